#include "runtime/mpi/base/attributes.h"

#include <algorithm>

#include "runtime/mpi/base/communicator_core.h"
#include "runtime/mpi/base/errors.h"

namespace phx::mpi {
namespace {

void delete_value(int object, const Keyval& key, void* value) {
  if (key.remove == nullptr) return;
  const int code = key.remove(object, key.handle, value, key.extra);
  if (code != MPI_SUCCESS) throw Failure(code, "the function that deletes an attribute failed");
}

}  // namespace

Handles<Keyval>& keyvals() {
  static auto& all = *new Handles<Keyval>(Kind::kKeyval);
  return all;
}

Keyval& keyval_of(int key, Owner owner) {
  Keyval* found = keyvals().find(key);
  require(found != nullptr && found->owner == owner, MPI_ERR_KEYVAL,
          "there is no such key for this kind of object");
  return *found;
}

Handles<CommunicatorCore>& communicators() {
  static auto& all = *new Handles<CommunicatorCore>(Kind::kComm);
  return all;
}

CommunicatorCore& communicator_of(MPI_Comm comm) {
  CommunicatorCore* found = communicators().find(comm);
  require(found != nullptr, MPI_ERR_COMM, "the communicator is null, freed or never made");
  return *found;
}

std::vector<Attributes::Entry> Attributes::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

void Attributes::erase(const Keyval& key) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& e) { return e.key.get() == &key; });
}

bool Attributes::get(const Keyval& key, void** value) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& e : entries_) {
    if (e.key.get() != &key) continue;
    *value = e.value;
    return true;
  }
  return false;
}

void Attributes::set(int object, Keyval& key, void* value) {
  void* old = nullptr;
  const bool had = get(key, &old);
  if (had) delete_value(object, key, old);
  const std::lock_guard lock(mutex_);
  for (Entry& e : entries_) {
    if (e.key.get() == &key) {
      e.value = value;
      return;
    }
  }
  entries_.push_back({Key(&key), value});
}

void Attributes::remove(int object, const Keyval& key) {
  void* value = nullptr;
  if (!get(key, &value)) return;
  delete_value(object, key, value);
  erase(key);
}

void Attributes::clear(int object) {
  std::vector<Entry> all = entries();
  std::reverse(all.begin(), all.end());
  for (const Entry& e : all) {
    delete_value(object, *e.key.get(), e.value);
    erase(*e.key.get());
  }
}

void Attributes::copy_from(const Attributes& from, int object) {
  try {
    for (const Entry& e : from.entries()) {
      if (e.key->copy == nullptr) continue;
      void* value = nullptr;
      int flag = 0;
      const int code = e.key->copy(object, e.key->handle, e.key->extra, e.value, &value, &flag);
      if (code != MPI_SUCCESS) throw Failure(code, "the function that copies an attribute failed");
      if (flag == 0) continue;
      const std::lock_guard lock(mutex_);
      entries_.push_back({e.key, value});
    }
  } catch (...) {  // The new object is never there: its copies are deleted as if it were freed.
    delete_copies(object);
    throw;
  }
}

void Attributes::delete_copies(int object) {
  try {
    clear(object);
  } catch (const Failure&) {  // What the copy function said is what the program is told.
  }
}

}  // namespace phx::mpi
