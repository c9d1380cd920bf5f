#include "runtime/mpi/datatypes/datatype.h"

#include "runtime/mpi/base/errors.h"

namespace phx::mpi {
namespace {

void predefine(Handles<Datatype>& table, MPI_Datatype handle, LayoutRef layout, const char* name) {
  auto* made = new Datatype(std::move(layout), {});
  made->commit();
  made->set_name(name);
  table.predefine(handle, made);
}

Handles<Datatype>* make_table() {
  auto* table = new Handles<Datatype>(Kind::kDatatype);
#define PHX_MPI_PREDEFINE(name, Type, family, external) \
  predefine(*table, MPI_##name, basic_layout(*find_basic(MPI_##name)), "MPI_" #name);
  PHX_MPI_BASICS(PHX_MPI_PREDEFINE)
#undef PHX_MPI_PREDEFINE
#define PHX_MPI_PREDEFINE(name, Value, value, Index, index)                              \
  predefine(*table, MPI_##name,                                                          \
            pair_layout(MPI_##name, *find_basic(MPI_##value), *find_basic(MPI_##index)), \
            "MPI_" #name);
  PHX_MPI_PAIRS(PHX_MPI_PREDEFINE)
#undef PHX_MPI_PREDEFINE
  predefine(*table, MPI_LB, marker_layout(MPI_LB), "MPI_LB");
  predefine(*table, MPI_UB, marker_layout(MPI_UB), "MPI_UB");
  return table;
}

}  // namespace

Handles<Datatype>& datatypes() {
  static Handles<Datatype>& all = *make_table();
  return all;
}

Datatype& datatype_of(MPI_Datatype handle) {
  Datatype* found = datatypes().find(handle);
  if (found == nullptr) [[unlikely]] {
    throw Failure(MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL
                                    ? "the datatype is MPI_DATATYPE_NULL"
                                    : "the datatype was freed or never made");
  }
  return *found;
}

Datatype& committed(MPI_Datatype handle) {
  Datatype& found = datatype_of(handle);
  require(found.is_committed(), MPI_ERR_TYPE, "the datatype is not committed");
  return found;
}

}  // namespace phx::mpi
