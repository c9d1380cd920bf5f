#pragma once

#include <atomic>
#include <utility>

namespace phx::mpi {

/// What a handle can name. It counts who holds it and how many handles programs hold.
struct Object {
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  std::atomic<int> holders{0};
  int handle = 0;    ///< 0 while no handle is open; guarded by the table
  int openings = 0;  ///< how often the handle was given out and not closed; guarded by the table
};

/// One holder of an object; the last one deletes it. Thread rule: as a plain pointer's.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && object_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete object_;
  }

  [[nodiscard]] T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace phx::mpi
