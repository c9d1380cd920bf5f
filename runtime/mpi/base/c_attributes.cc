#include "runtime/mpi/base/communicator_core.h"
#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/base/job_facts.h"
#include "runtime/mpi/base/make_keyval.h"

using namespace phx::mpi;

namespace {

/// The value that a predefined key stands for; null for other keys.
int* predefined_value(int key) {
  JobFacts& facts = job_facts();
  switch (key) {
    case MPI_TAG_UB:
      return &facts.tag_ub;
    case MPI_HOST:
      return &facts.host;
    case MPI_IO:
      return &facts.io;
    case MPI_WTIME_IS_GLOBAL:
      return &facts.wtime_is_global;
    case MPI_UNIVERSE_SIZE:
      return &facts.universe_size;
    case MPI_APPNUM:
      return &facts.appnum;
    case MPI_LASTUSEDCODE:
      return last_used_code();
    default:
      return nullptr;
  }
}

Keyval& changeable(int key) {
  require(predefined_value(key) == nullptr, MPI_ERR_KEYVAL, "predefined attributes do not change");
  return keyval_of(key, Owner::kComm);
}

}  // namespace

JobFacts& phx::mpi::job_facts() {
  static JobFacts facts;
  return facts;
}

int phx::mpi::make_keyval(Owner owner, CopyAttribute copy, DeleteAttribute remove, void* extra) {
  auto* made = new Keyval;
  made->owner = owner;
  made->copy = copy;
  made->remove = remove;
  made->extra = extra;
  return keyvals().open(made);
}

void phx::mpi::free_keyval(int* key, Owner owner) {
  require(key != nullptr, MPI_ERR_ARG, "the pointer to the key is null");
  // Objects may have it still, and programs may free other variables with the same key then.
  Keyval& freed = keyval_of(*key, owner);
  if (!freed.is_freed.exchange(true)) keyvals().close(&freed);
  *key = MPI_KEYVAL_INVALID;
}

extern "C" int MPIR_Dup_fn(MPI_Comm /*from*/, int /*key*/, void* /*extra_state*/, void* value,
                           void* copy, int* flag) {
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}

PHX_MPI_ENTRY(int, Comm_create_keyval,
              (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function* remove, int* key,
               void* extra)) {
  return enter("MPI_Comm_create_keyval", [&] {
    require(key != nullptr, MPI_ERR_ARG, "the pointer to the key is null");
    *key = make_keyval(Owner::kComm, reinterpret_cast<CopyAttribute>(copy), remove, extra);
  });
}

PHX_MPI_ENTRY(int, Comm_free_keyval, (int* key)) {
  return enter("MPI_Comm_free_keyval", [&] {
    require(key == nullptr || predefined_value(*key) == nullptr, MPI_ERR_KEYVAL,
            "predefined keys cannot be freed");
    free_keyval(key, Owner::kComm);
  });
}

PHX_MPI_ENTRY(int, Comm_set_attr, (MPI_Comm comm, int key, void* value)) {
  return enter("MPI_Comm_set_attr", comm,
               [&] { communicator_of(comm).attributes.set(comm, changeable(key), value); });
}

PHX_MPI_ENTRY(int, Comm_get_attr, (MPI_Comm comm, int key, void* value, int* flag)) {
  return enter("MPI_Comm_get_attr", comm, [&] {
    const CommunicatorCore& core = communicator_of(comm);
    require(value != nullptr && flag != nullptr, MPI_ERR_ARG, "an argument is null");
    if (int* fact = predefined_value(key)) {
      *flag = *fact != MPI_UNDEFINED ? 1 : 0;
      if (*flag != 0) *static_cast<void**>(value) = fact;
      return;
    }
    const Keyval& found = keyval_of(key, Owner::kComm);
    *flag = core.attributes.get(found, static_cast<void**>(value)) ? 1 : 0;
  });
}

PHX_MPI_ENTRY(int, Comm_delete_attr, (MPI_Comm comm, int key)) {
  return enter("MPI_Comm_delete_attr", comm,
               [&] { communicator_of(comm).attributes.remove(comm, changeable(key)); });
}

PHX_MPI_ENTRY(int, Keyval_create,
              (MPI_Copy_function * copy, MPI_Delete_function* remove, int* key, void* extra)) {
  return PMPI_Comm_create_keyval(copy, remove, key, extra);
}

PHX_MPI_ENTRY(int, Keyval_free, (int* key)) {
  return PMPI_Comm_free_keyval(key);
}

PHX_MPI_ENTRY(int, Attr_put, (MPI_Comm comm, int key, void* value)) {
  return PMPI_Comm_set_attr(comm, key, value);
}

PHX_MPI_ENTRY(int, Attr_get, (MPI_Comm comm, int key, void* value, int* flag)) {
  return PMPI_Comm_get_attr(comm, key, value, flag);
}

PHX_MPI_ENTRY(int, Attr_delete, (MPI_Comm comm, int key)) {
  return PMPI_Comm_delete_attr(comm, key);
}

PHX_MPI_ENTRY(int, Comm_set_name, (MPI_Comm comm, const char* name)) {
  return enter("MPI_Comm_set_name", comm, [&] {
    CommunicatorCore& core = communicator_of(comm);
    require(name != nullptr, MPI_ERR_ARG, "the name is null");
    core.set_name(std::string(name).substr(0, MPI_MAX_OBJECT_NAME - 1));
  });
}

PHX_MPI_ENTRY(int, Comm_get_name, (MPI_Comm comm, char* name, int* length)) {
  return enter("MPI_Comm_get_name", comm,
               [&] { give_text(communicator_of(comm).name(), MPI_MAX_OBJECT_NAME, name, length); });
}
