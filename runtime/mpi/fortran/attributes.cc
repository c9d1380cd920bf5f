#include <cstdint>

#include "runtime/mpi/fortran/fortran.h"

// Attributes and generalized requests: values are integers, and the program's functions take
// addresses of everything.

namespace {

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
  auto value = static_cast<Value>(reinterpret_cast<std::intptr_t>(from));
  Value copied = 0;
  int error = MPI_SUCCESS;
  program.copy(&object, &key, &program.extra, &value, &copied, flag, &error);
  if (error == MPI_SUCCESS && *flag != 0) {
    *static_cast<void**>(to) = reinterpret_cast<void*>(static_cast<std::intptr_t>(copied));
  }
  return error;
}

template <class Value>
int delete_value(int object, int key, void* from, void* extra) {
  auto& program = *static_cast<Key<Value>*>(extra);
  auto value = static_cast<Value>(reinterpret_cast<std::intptr_t>(from));
  int error = MPI_SUCCESS;
  program.remove(&object, &key, &value, &program.extra, &error);
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
  *value = static_cast<Value>(is_own ? reinterpret_cast<std::intptr_t>(found)
                                     : *static_cast<int*>(found));
  return error;
}

template <class Value>
void* as_pointer(const Value* value) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(*value));
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
  *error = MPI_Comm_set_attr(*comm, *key, as_pointer(value));
}
PHX_FORTRAN_ENTRY(void, type_set_attr, (int* datatype, int* key, MPI_Aint* value, int* error)) {
  *error = MPI_Type_set_attr(*datatype, *key, as_pointer(value));
}
PHX_FORTRAN_ENTRY(void, attr_put, (int* comm, int* key, int* value, int* error)) {
  *error = MPI_Comm_set_attr(*comm, *key, as_pointer(value));
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
