#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "runtime/mpi/base/handles.h"

namespace phx::mpi {

/// Copies or deletes an attribute; 0 means that it went well. The functions for communicators and
/// for datatypes have the same shape, because all handles are integers.
using CopyAttribute = int (*)(int object, int key, void* extra, void* value, void* copy, int* flag);
using DeleteAttribute = int (*)(int object, int key, void* value, void* extra);

enum class Owner { kComm, kDatatype };

/// A key of attributes. Its handle names it until the program frees it and no object has it any
/// more.
struct Keyval : Object {
  Owner owner = Owner::kComm;
  CopyAttribute copy = nullptr;
  DeleteAttribute remove = nullptr;
  void* extra = nullptr;
  std::atomic<bool> is_freed = false;  ///< by the program
};
Handles<Keyval>& keyvals();
/// The key behind a handle; fails with MPI_ERR_KEYVAL, also when it is for other objects.
Keyval& keyval_of(int key, Owner owner);

/// What programs attached to one object, in order. The functions of keys run without a lock held
/// and may call anything. Thread rule: any thread.
class Attributes {
 public:
  /// Sets a value; an old one is deleted first. Fails with what the deletion says; then the old one
  /// stays.
  void set(int object, Keyval& key, void* value);
  /// Whether there is a value; `value` is left alone if there is none.
  bool get(const Keyval& key, void** value) const;
  /// Deletes a value, if there is one; fails with what the deletion says.
  void remove(int object, const Keyval& key);
  /// Deletes all, the newest first. Fails at the first deletion that does; that one stays and what
  /// is older.
  void clear(int object);
  /// What `from` has, as its copy functions say, into this empty one; `object` has the attributes
  /// `from`. Fails with what a copy function says; then the copies made before are deleted, by
  /// their functions, which get `object` too.
  void copy_from(const Attributes& from, int object);

 private:
  /// A key that an object has: its handle stays open.
  class Key {
   public:
    explicit Key(Keyval* key) : key_(key) { keyvals().open(key); }
    Key(const Key& other) : Key(other.key_) {}
    Key& operator=(Key other) noexcept {
      std::swap(key_, other.key_);
      return *this;
    }
    ~Key() { keyvals().close(key_); }
    [[nodiscard]] Keyval* get() const { return key_; }
    Keyval* operator->() const { return key_; }

   private:
    Keyval* key_;
  };
  struct Entry {
    Key key;
    void* value;
  };
  [[nodiscard]] std::vector<Entry> entries() const;
  void erase(const Keyval& key);
  void delete_copies(int object);

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace phx::mpi
