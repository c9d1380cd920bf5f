#include <cstring>

#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/base/info.h"

using namespace phx::mpi;

namespace {

std::string checked_key(const char* key) {
  require(key != nullptr && *key != '\0', MPI_ERR_INFO_KEY, "the key is null or empty");
  require(std::strlen(key) <= MPI_MAX_INFO_KEY, MPI_ERR_INFO_KEY, "the key is too long");
  return key;
}

}  // namespace

PHX_MPI_ENTRY(int, Info_create, (MPI_Info * info)) {
  return enter("MPI_Info_create", [&] {
    require(info != nullptr, MPI_ERR_ARG, "the pointer to the info is null");
    *info = infos().open(new Info);
  });
}

PHX_MPI_ENTRY(int, Info_dup, (MPI_Info info, MPI_Info* copy)) {
  return enter("MPI_Info_dup", [&] {
    need({copy});
    *copy = infos().open(new Info(info_of(info).entries()));
  });
}

PHX_MPI_ENTRY(int, Info_free, (MPI_Info * info)) {
  return enter("MPI_Info_free", [&] {
    require(info != nullptr, MPI_ERR_ARG, "the pointer to the info is null");
    Info& freed = info_of(*info);
    require(*info != MPI_INFO_ENV, MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed");
    infos().close(&freed);
    *info = MPI_INFO_NULL;
  });
}

PHX_MPI_ENTRY(int, Info_set, (MPI_Info info, const char* key, const char* value)) {
  return enter("MPI_Info_set", [&] {
    Info& object = info_of(info);
    const std::string name = checked_key(key);
    require(value != nullptr, MPI_ERR_INFO_VALUE, "the value is null");
    require(std::strlen(value) <= MPI_MAX_INFO_VAL, MPI_ERR_INFO_VALUE, "the value is too long");
    object.set(name, value);
  });
}

PHX_MPI_ENTRY(int, Info_delete, (MPI_Info info, const char* key)) {
  return enter("MPI_Info_delete", [&] {
    Info& object = info_of(info);
    require(object.remove(checked_key(key)), MPI_ERR_INFO_NOKEY, "there is no such key");
  });
}

PHX_MPI_ENTRY(int, Info_get, (MPI_Info info, const char* key, int size, char* value, int* flag)) {
  return enter("MPI_Info_get", [&] {
    need({flag});
    const auto found = info_of(info).find(checked_key(key));
    require(size >= 0, MPI_ERR_ARG, "the length of the value is negative");
    require(value != nullptr, MPI_ERR_ARG, "the buffer for the value is null");
    *flag = found.has_value() ? 1 : 0;
    if (!found) return;
    const std::string cut = found->substr(0, static_cast<std::size_t>(size));
    std::memcpy(value, cut.c_str(), cut.size() + 1);
  });
}

PHX_MPI_ENTRY(int, Info_get_valuelen, (MPI_Info info, const char* key, int* length, int* flag)) {
  return enter("MPI_Info_get_valuelen", [&] {
    need({length, flag});
    const auto found = info_of(info).find(checked_key(key));
    *flag = found.has_value() ? 1 : 0;
    if (found) *length = static_cast<int>(found->size());
  });
}

PHX_MPI_ENTRY(int, Info_get_nkeys, (MPI_Info info, int* count)) {
  return enter("MPI_Info_get_nkeys", [&] {
    need({count});
    *count = static_cast<int>(info_of(info).entries().size());
  });
}

PHX_MPI_ENTRY(int, Info_get_nthkey, (MPI_Info info, int number, char* key)) {
  return enter("MPI_Info_get_nthkey", [&] {
    const Info::Entries all = info_of(info).entries();
    require(number >= 0 && static_cast<std::size_t>(number) < all.size(), MPI_ERR_ARG,
            "the number of the key is not in the range");
    give_text(all[static_cast<std::size_t>(number)].first, MPI_MAX_INFO_KEY + 1, key, nullptr);
  });
}
