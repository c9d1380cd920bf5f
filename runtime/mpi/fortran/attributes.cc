#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "runtime/mpi/fortran/fortran.h"

// Attributes and generalized requests: values are integers, and the program's functions take
// addresses of everything.

namespace {

/// Values that Fortran has set. C finds the address of each [MPI 3.1, 17.2.7]; of one that C has
/// set, which is an address, Fortran finds that. A value is kept until the function of a key made
/// in Fortran deletes it, and for ever under a key that was made in C, as copies may share it.
/// Thread rule: any thread.
class Values {
 public:
  void* keep(std::intptr_t value) {
    auto* word = new std::intptr_t(value);  // also an int, by its first bytes
    const std::lock_guard lock(mutex_);
    words_.insert(word);
    return word;
  }
  [[nodiscard]] bool has(void* found) {
    const std::lock_guard lock(mutex_);
    return words_.contains(found);
  }
  /// What Fortran sees.
  [[nodiscard]] std::intptr_t read(void* found) {
    return has(found) ? *static_cast<std::intptr_t*>(found)
                      : reinterpret_cast<std::intptr_t>(found);
  }
  void drop(void* found) {
    const std::lock_guard lock(mutex_);
    if (words_.erase(found) != 0) delete static_cast<std::intptr_t*>(found);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<void*> words_;  // only looked up
};
Values& values() {
  static auto& all = *new Values;
  return all;
}

/// What the program gave for a key. It lives as long as the process: copies of the key may.
template <class Value>
struct Key {
  using Copy = void(int* object, int* key, Value* extra, Value* from, Value* to, int* flag,
                    int* error);
  using Delete = void(int* object, int* key, Value* value, Value* extra, int* error);
  Copy* copy;
  Delete* remove;
  Value extra;
};

template <class Value>
int copy_value(int object, int key, void* extra, void* from, void* to, int* flag) {
  auto& program = *static_cast<Key<Value>*>(extra);
  auto value = static_cast<Value>(values().read(from));
  Value copied = 0;
  int error = MPI_SUCCESS;
  program.copy(&object, &key, &program.extra, &value, &copied, flag, &error);
  if (error == MPI_SUCCESS && *flag != 0) {
    *static_cast<void**>(to) = values().has(from)
                                   ? values().keep(copied)
                                   : reinterpret_cast<void*>(static_cast<std::intptr_t>(copied));
  }
  return error;
}

template <class Value>
int delete_value(int object, int key, void* from, void* extra) {
  auto& program = *static_cast<Key<Value>*>(extra);
  auto value = static_cast<Value>(values().read(from));
  int error = MPI_SUCCESS;
  program.remove(&object, &key, &value, &program.extra, &error);
  if (error == MPI_SUCCESS) values().drop(from);
  return error;
}

using Create = int(int (*)(int, int, void*, void*, void*, int*), int (*)(int, int, void*, void*),
                   int*, void*);
template <class Value>
int create_key(Create* create, void* copy, void* remove, int* key, const Value* extra) {
  auto* made = new Key<Value>{reinterpret_cast<typename Key<Value>::Copy*>(copy),
                              reinterpret_cast<typename Key<Value>::Delete*>(remove), *extra};
  return create(&copy_value<Value>, &delete_value<Value>, key, made);
}

/// Predefined attributes have other keys in Fortran, and are values where C has addresses.
bool is_predefined(int key) {
  return key >= MPI_TAG_UB && key <= MPI_APPNUM + 1;
}

template <class Value, class Get>
int get_value(Get* get, int object, int key, Value* value, int* flag) {
  void* found = nullptr;
  const bool is_own = !is_predefined(key);
  const int error = get(object, is_own ? key : (key - 1) | 1, &found, flag);
  if (error != MPI_SUCCESS || *flag == 0) return error;
  *value = static_cast<Value>(is_own ? values().read(found) : *static_cast<int*>(found));
  return error;
}

template <class Set>
int set_value(Set* set, int object, int key, std::intptr_t value) {
  void* const kept = values().keep(value);
  const int error = set(object, key, kept);
  if (error != MPI_SUCCESS) values().drop(kept);
  return error;
}

}  // namespace

PHX_FORTRAN_ENTRY(void, comm_create_keyval,
                  (void* copy, void* remove, int* key, MPI_Aint* extra, int* error)) {
  *error = create_key(&MPI_Comm_create_keyval, copy, remove, key, extra);
}
PHX_FORTRAN_ENTRY(void, type_create_keyval,
                  (void* copy, void* remove, int* key, MPI_Aint* extra, int* error)) {
  *error = create_key(&MPI_Type_create_keyval, copy, remove, key, extra);
}
PHX_FORTRAN_ENTRY(void, keyval_create,
                  (void* copy, void* remove, int* key, int* extra, int* error)) {
  *error = create_key(&MPI_Comm_create_keyval, copy, remove, key, extra);
}
PHX_FORTRAN_ENTRY(void, comm_set_attr, (int* comm, int* key, MPI_Aint* value, int* error)) {
  *error = set_value(&MPI_Comm_set_attr, *comm, *key, *value);
}
PHX_FORTRAN_ENTRY(void, type_set_attr, (int* datatype, int* key, MPI_Aint* value, int* error)) {
  *error = set_value(&MPI_Type_set_attr, *datatype, *key, *value);
}
PHX_FORTRAN_ENTRY(void, attr_put, (int* comm, int* key, int* value, int* error)) {
  *error = set_value(&MPI_Comm_set_attr, *comm, *key, *value);
}
PHX_FORTRAN_ENTRY(void, comm_get_attr,
                  (int* comm, int* key, MPI_Aint* value, int* flag, int* error)) {
  *error = get_value(&MPI_Comm_get_attr, *comm, *key, value, flag);
}
PHX_FORTRAN_ENTRY(void, type_get_attr,
                  (int* datatype, int* key, MPI_Aint* value, int* flag, int* error)) {
  *error = get_value(&MPI_Type_get_attr, *datatype, *key, value, flag);
}
PHX_FORTRAN_ENTRY(void, attr_get, (int* comm, int* key, int* value, int* flag, int* error)) {
  *error = get_value(&MPI_Comm_get_attr, *comm, *key, value, flag);
}

// --- Functions for attributes ------------------------------------------------------------------

#define PHX_FORTRAN_COPIES(prefix, Value)                                                     \
  PHX_FORTRAN_ENTRY(void, prefix##null_copy_fn,                                               \
                    (int*, int*, Value*, Value*, Value*, int* flag, int* error)) {            \
    *flag = 0;                                                                                \
    *error = MPI_SUCCESS;                                                                     \
  }                                                                                           \
  PHX_FORTRAN_ENTRY(void, prefix##null_delete_fn, (int*, int*, Value*, Value*, int* error)) { \
    *error = MPI_SUCCESS;                                                                     \
  }                                                                                           \
  PHX_FORTRAN_ENTRY(void, prefix##dup_fn,                                                     \
                    (int*, int*, Value*, Value* from, Value* to, int* flag, int* error)) {    \
    *to = *from;                                                                              \
    *flag = 1;                                                                                \
    *error = MPI_SUCCESS;                                                                     \
  }
PHX_FORTRAN_COPIES(, int)
PHX_FORTRAN_COPIES(comm_, MPI_Aint)
PHX_FORTRAN_COPIES(type_, MPI_Aint)
PHX_FORTRAN_COPIES(win_, MPI_Aint)

// --- Generalized requests ----------------------------------------------------------------------

namespace {

struct General {
  void (*query)(MPI_Aint* extra, MPI_Status* status, int* error);
  void (*free)(MPI_Aint* extra, int* error);
  void (*cancel)(MPI_Aint* extra, int* is_complete, int* error);
  MPI_Aint extra;
};

int query_general(void* extra, MPI_Status* status) {
  auto& general = *static_cast<General*>(extra);
  int error = MPI_SUCCESS;
  general.query(&general.extra, status, &error);
  return error;
}
int free_general(void* extra) {
  auto* general = static_cast<General*>(extra);
  int error = MPI_SUCCESS;
  general->free(&general->extra, &error);
  delete general;
  return error;
}
int cancel_general(void* extra, int is_complete) {
  auto& general = *static_cast<General*>(extra);
  int error = MPI_SUCCESS;
  general.cancel(&general.extra, &is_complete, &error);
  return error;
}

}  // namespace

PHX_FORTRAN_ENTRY(void, grequest_start,
                  (void* query, void* free, void* cancel, MPI_Aint* extra, int* request,
                   int* error)) {
  auto* made = new General{reinterpret_cast<decltype(General::query)>(query),
                           reinterpret_cast<decltype(General::free)>(free),
                           reinterpret_cast<decltype(General::cancel)>(cancel), *extra};
  *error = MPI_Grequest_start(&query_general, &free_general, &cancel_general, made, request);
}
