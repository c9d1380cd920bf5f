#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/mpi/base/object.h"

/// Integer handles of the MPICH ABI and the objects behind them.
namespace phx::mpi {

/// The kinds of objects, as handles of the ABI have them in bits 26 to 29.
enum class Kind : std::uint32_t {
  kComm = 1,
  kGroup = 2,
  kDatatype = 3,
  kErrhandler = 5,
  kOp = 6,
  kInfo = 7,
  kKeyval = 9,
  kRequest = 11
};

/// The table of one kind of objects. Looking up takes no lock; opening and closing do. A look-up
/// that runs while another thread closes the same handle is an error of the program, as MPI says.
template <class T>
class Handles {
 public:
  explicit Handles(Kind kind) : kind_(static_cast<std::uint32_t>(kind) << 26U) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    for (const auto& entry : predefined_) let_go(entry.load());
    for (const auto& page : pages_) {
      if (page.load() == nullptr) continue;
      for (const auto& entry : *page.load()) let_go(entry.load());
      delete page.load();
    }
  }

  /// The object behind a handle; null if the handle names none.
  [[nodiscard]] T* find(int handle) const {
    const auto bits = static_cast<std::uint32_t>(handle);
    if ((bits & kKindBits) != kind_) return nullptr;
    const std::uint32_t index = bits & kIndexBits;
    T* object = nullptr;
    if ((bits >> 30U) == kPredefined) {
      object = predefined_[index & 0xFFU].load(std::memory_order_acquire);
      return object != nullptr && object->handle == handle ? object : nullptr;
    }
    if ((bits >> 30U) != kMade) return nullptr;
    const Page* page = pages_[index / kPageSlots].load(std::memory_order_acquire);
    return page == nullptr ? nullptr : (*page)[index % kPageSlots].load(std::memory_order_acquire);
  }

  /// The same, also while another thread may close it.
  [[nodiscard]] Ref<T> hold(int handle) {
    const std::lock_guard lock(mutex_);
    return Ref<T>(find(handle));
  }

  /// Whether is_it(object) of one with a handle of open(). Nobody opens or closes meanwhile.
  template <class F>
  [[nodiscard]] bool has(F is_it) {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t index = kKept; index < next_; ++index) {
      const T* const object = slot(index).load(std::memory_order_relaxed);
      if (object != nullptr && is_it(*object)) return true;
    }
    return false;
  }

  /// Puts an object at a handle that the ABI fixes. It stays for ever.
  void predefine(int handle, T* object) {
    const std::lock_guard lock(mutex_);
    const auto bits = static_cast<std::uint32_t>(handle);
    object->holders.fetch_add(1);
    object->handle = handle;
    object->openings = 1;
    if ((bits >> 30U) == kPredefined) {
      predefined_[bits & 0xFFU].store(object, std::memory_order_release);
    } else {
      slot(bits & kIndexBits).store(object, std::memory_order_release);
    }
  }

  /// Gives a program a handle of the object: the one it has, or a new one. The table becomes a
  /// holder.
  int open(T* object) {
    const std::lock_guard lock(mutex_);
    if (object->openings++ > 0) return object->handle;
    std::uint32_t index = next_;
    if (free_.empty()) {
      ++next_;
    } else {
      index = free_.back();
      free_.pop_back();
    }
    object->holders.fetch_add(1);
    object->handle = static_cast<int>((kMade << 30U) | kind_ | index);
    slot(index).store(object, std::memory_order_release);
    return object->handle;
  }

  /// Takes one opening back. Returns whether it was the last, and the handle names nothing now.
  bool close(T* object) {
    const std::lock_guard lock(mutex_);
    if (--object->openings > 0) return false;
    const std::uint32_t index = static_cast<std::uint32_t>(object->handle) & kIndexBits;
    object->handle = 0;
    slot(index).store(nullptr, std::memory_order_release);
    free_.push_back(index);
    let_go(object);
    return true;
  }

 private:
  static constexpr std::uint32_t kPredefined = 1, kMade = 2;
  static constexpr std::uint32_t kKept = 8;  ///< the first handles "made" are predefined pair types
  static constexpr std::uint32_t kKindBits = 0x3C000000, kIndexBits = 0x03FFFFFF;
  static constexpr std::uint32_t kPageSlots = 4096;
  using Page = std::array<std::atomic<T*>, kPageSlots>;

  /// The table holds the object no longer.
  static void let_go(T* object) {
    if (object == nullptr) return;
    const Ref<T> last(object);
    object->holders.fetch_sub(1);
  }

  std::atomic<T*>& slot(std::uint32_t index) {
    std::atomic<Page*>& page = pages_[index / kPageSlots];
    if (page.load() == nullptr) page.store(new Page{}, std::memory_order_release);
    return (*page.load())[index % kPageSlots];
  }

  std::uint32_t kind_;
  std::mutex mutex_;
  std::array<std::atomic<T*>, 256> predefined_{};
  std::array<std::atomic<Page*>, (kIndexBits + 1) / kPageSlots> pages_{};
  std::uint32_t next_ = kKept;
  std::vector<std::uint32_t> free_;
};

}  // namespace phx::mpi
