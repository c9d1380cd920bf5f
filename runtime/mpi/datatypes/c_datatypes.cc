#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/base/make_keyval.h"
#include "runtime/mpi/datatypes/constructed.h"
#include "runtime/mpi/datatypes/status.h"

using namespace phx::mpi;

MPI_Datatype phx::mpi::constructed(LayoutRef layout, Contents contents) {
  return datatypes().open(new Datatype(std::move(layout), std::move(contents)));
}

std::vector<Ref<Datatype>> phx::mpi::refs(std::span<const MPI_Datatype> handles) {
  std::vector<Ref<Datatype>> result;
  result.reserve(handles.size());
  for (const MPI_Datatype handle : handles) result.emplace_back(&datatype_of(handle));
  return result;
}

namespace {

/// Copies a list to the program's array, which must be long enough.
template <class T>
void give(const std::vector<T>& list, int room, T* out) {
  require(room >= 0 && list.size() <= static_cast<std::size_t>(room), MPI_ERR_ARG,
          "an array is too short for the contents");
  require(list.empty() || out != nullptr, MPI_ERR_ARG, "an array is null");
  std::copy(list.begin(), list.end(), out);
}

int give_bounds(const char* function, MPI_Datatype handle, bool is_true, MPI_Aint* lb,
                MPI_Aint* extent) {
  return enter(function, [&] {
    need({lb, extent});
    const Bounds& bounds = datatype_of(handle).layout().bounds;
    const MPI_Aint begin = is_true ? bounds.true_lb() : bounds.lb();
    const MPI_Aint end = is_true ? bounds.true_ub() : bounds.ub();
    *lb = begin;
    *extent = end - begin;
  });
}

}  // namespace

PHX_MPI_ENTRY(int, Type_commit, (MPI_Datatype * handle)) {
  return enter("MPI_Type_commit", [&] {
    require(handle != nullptr, MPI_ERR_ARG, "the pointer to the datatype is null");
    datatype_of(*handle).commit();
  });
}

PHX_MPI_ENTRY(int, Type_free, (MPI_Datatype * handle)) {
  return enter("MPI_Type_free", [&] {
    require(handle != nullptr, MPI_ERR_ARG, "the pointer to the datatype is null");
    Datatype& freed = datatype_of(*handle);
    require(!freed.is_predefined(), MPI_ERR_TYPE, "a predefined datatype cannot be freed");
    if (freed.openings == 1) freed.attributes.clear(*handle);
    datatypes().close(&freed);
    *handle = MPI_DATATYPE_NULL;
  });
}

PHX_MPI_ENTRY(int, Type_dup, (MPI_Datatype old, MPI_Datatype* made)) {
  return enter("MPI_Type_dup", [&] {
    need({made});
    const Datatype& from = datatype_of(old);
    *made = MPI_DATATYPE_NULL;
    const Ref<Datatype> copy(
        new Datatype(from.shared_layout(), {MPI_COMBINER_DUP, {}, {}, refs({old})}));
    if (from.is_committed()) copy->commit();
    copy->attributes.copy_from(from.attributes, old);
    *made = datatypes().open(copy.get());
  });
}

PHX_MPI_ENTRY(int, Type_size, (MPI_Datatype handle, int* size)) {
  return enter("MPI_Type_size", [&] {
    need({size});
    *size = int_or_undefined(datatype_of(handle).layout().size());
  });
}

PHX_MPI_ENTRY(int, Type_size_x, (MPI_Datatype handle, MPI_Count* size)) {
  return enter("MPI_Type_size_x", [&] {
    need({size});
    *size = datatype_of(handle).layout().size();
  });
}

PHX_MPI_ENTRY(int, Type_get_extent, (MPI_Datatype handle, MPI_Aint* lb, MPI_Aint* extent)) {
  return give_bounds("MPI_Type_get_extent", handle, false, lb, extent);
}

PHX_MPI_ENTRY(int, Type_get_extent_x, (MPI_Datatype handle, MPI_Count* lb, MPI_Count* extent)) {
  return give_bounds("MPI_Type_get_extent_x", handle, false, lb, extent);
}

PHX_MPI_ENTRY(int, Type_get_true_extent, (MPI_Datatype handle, MPI_Aint* lb, MPI_Aint* extent)) {
  return give_bounds("MPI_Type_get_true_extent", handle, true, lb, extent);
}

PHX_MPI_ENTRY(int, Type_get_true_extent_x,
              (MPI_Datatype handle, MPI_Count* lb, MPI_Count* extent)) {
  return give_bounds("MPI_Type_get_true_extent_x", handle, true, lb, extent);
}

PHX_MPI_ENTRY(int, Type_extent, (MPI_Datatype handle, MPI_Aint* extent)) {
  MPI_Aint lb = 0;
  return give_bounds("MPI_Type_extent", handle, false, &lb, extent);
}

PHX_MPI_ENTRY(int, Type_lb, (MPI_Datatype handle, MPI_Aint* lb)) {
  MPI_Aint extent = 0;
  return give_bounds("MPI_Type_lb", handle, false, lb, &extent);
}

PHX_MPI_ENTRY(int, Type_ub, (MPI_Datatype handle, MPI_Aint* ub)) {
  return enter("MPI_Type_ub", [&] {
    need({ub});
    *ub = datatype_of(handle).layout().bounds.ub();
  });
}

PHX_MPI_ENTRY(int, Type_get_envelope,
              (MPI_Datatype handle, int* integers, int* addresses, int* types, int* combiner)) {
  return enter("MPI_Type_get_envelope", [&] {
    need({integers, addresses, types, combiner});
    const Contents& contents = datatype_of(handle).contents();
    *integers = static_cast<int>(contents.integers.size());
    *addresses = static_cast<int>(contents.addresses.size());
    *types = static_cast<int>(contents.datatypes.size());
    *combiner = contents.combiner;
  });
}

PHX_MPI_ENTRY(int, Type_get_contents,
              (MPI_Datatype handle, int integers, int addresses, int types, int* integer_list,
               MPI_Aint* address_list, MPI_Datatype* type_list)) {
  return enter("MPI_Type_get_contents", [&] {
    const Datatype& datatype = datatype_of(handle);
    const Contents& contents = datatype.contents();
    require(contents.combiner != MPI_COMBINER_NAMED, MPI_ERR_TYPE,
            "a predefined datatype has no contents");
    give(contents.integers, integers, integer_list);
    give(contents.addresses, addresses, address_list);
    std::vector<MPI_Datatype> handles;
    for (const Ref<Datatype>& part : contents.datatypes) handles.push_back(part->handle);
    give(handles, types, type_list);
    for (std::size_t i = 0; i < handles.size(); ++i) {
      Datatype* part = contents.datatypes[i].get();
      if (!part->is_predefined()) type_list[i] = datatypes().open(part);
    }
  });
}

PHX_MPI_ENTRY(int, Type_set_name, (MPI_Datatype handle, const char* name)) {
  return enter("MPI_Type_set_name", [&] {
    Datatype& datatype = datatype_of(handle);
    require(name != nullptr, MPI_ERR_ARG, "the name is null");
    datatype.set_name(std::string(name).substr(0, MPI_MAX_OBJECT_NAME - 1));
  });
}

PHX_MPI_ENTRY(int, Type_get_name, (MPI_Datatype handle, char* name, int* length)) {
  return enter("MPI_Type_get_name",
               [&] { give_text(datatype_of(handle).name(), MPI_MAX_OBJECT_NAME, name, length); });
}

PHX_MPI_ENTRY(int, Type_create_keyval,
              (MPI_Type_copy_attr_function * copy, MPI_Type_delete_attr_function* remove, int* key,
               void* extra)) {
  return enter("MPI_Type_create_keyval", [&] {
    require(key != nullptr, MPI_ERR_ARG, "the pointer to the key is null");
    *key = make_keyval(Owner::kDatatype, copy, remove, extra);
  });
}

PHX_MPI_ENTRY(int, Type_free_keyval, (int* key)) {
  return enter("MPI_Type_free_keyval", [&] { free_keyval(key, Owner::kDatatype); });
}

PHX_MPI_ENTRY(int, Type_set_attr, (MPI_Datatype handle, int key, void* value)) {
  return enter("MPI_Type_set_attr", [&] {
    datatype_of(handle).attributes.set(handle, keyval_of(key, Owner::kDatatype), value);
  });
}

PHX_MPI_ENTRY(int, Type_get_attr, (MPI_Datatype handle, int key, void* value, int* flag)) {
  return enter("MPI_Type_get_attr", [&] {
    need({value, flag});
    const Datatype& datatype = datatype_of(handle);
    const Keyval& found = keyval_of(key, Owner::kDatatype);
    *flag = datatype.attributes.get(found, static_cast<void**>(value)) ? 1 : 0;
  });
}

PHX_MPI_ENTRY(int, Type_delete_attr, (MPI_Datatype handle, int key)) {
  return enter("MPI_Type_delete_attr", [&] {
    datatype_of(handle).attributes.remove(handle, keyval_of(key, Owner::kDatatype));
  });
}
