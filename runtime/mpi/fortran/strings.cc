#include <algorithm>
#include <array>
#include <string>

#include "runtime/mpi/fortran/fortran.h"

// Functions with texts. Those of Fortran have no end but a length, which comes last, and are filled
// with blanks.

using phx::mpi::fortran::Argument;

namespace {

/// Without blanks at its ends.
std::string text_of(const char* text, int length) {
  const std::string all(text, static_cast<std::size_t>(std::max(length, 0)));
  const auto begin = all.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return all.substr(begin, all.find_last_not_of(' ') - begin + 1);
}

/// Without those at its end; before a name they belong to it.
std::string name_of(const char* text, int length) {
  const std::string all(text, static_cast<std::size_t>(std::max(length, 0)));
  return all.substr(0, all.find_last_not_of(' ') + 1);
}

void give(const std::string& text, char* out, int length) {
  const auto room = static_cast<std::size_t>(std::max(length, 0));
  std::fill_n(std::copy_n(text.begin(), std::min(room, text.size()), out),
              room - std::min(room, text.size()), ' ');
}

/// Calls `function(text, length)` of C, and hands the text on.
template <std::size_t kMost, class F>
int get(char* out, int* given, int length, F function) {
  std::array<char, kMost> text{};
  const int error = function(text.data(), given);
  if (error != MPI_SUCCESS) return error;
  give(text.data(), out, length);
  *given = std::min(*given, length);
  return error;
}

}  // namespace

PHX_FORTRAN_ENTRY(void, get_processor_name, (char* name, int* given, int* error, int length)) {
  *error = get<MPI_MAX_PROCESSOR_NAME>(name, given, length, &MPI_Get_processor_name);
}
PHX_FORTRAN_ENTRY(void, get_library_version, (char* text, int* given, int* error, int length)) {
  *error = get<MPI_MAX_LIBRARY_VERSION_STRING>(text, given, length, &MPI_Get_library_version);
}
PHX_FORTRAN_ENTRY(void, error_string,
                  (const int* code, char* text, int* given, int* error, int length)) {
  *error = get<MPI_MAX_ERROR_STRING>(text, given, length, [&](char* out, int* size) {
    return MPI_Error_string(*code, out, size);
  });
}
PHX_FORTRAN_ENTRY(void, add_error_string,
                  (const int* code, const char* text, int* error, int length)) {
  *error = MPI_Add_error_string(*code, name_of(text, length).c_str());
}
PHX_FORTRAN_ENTRY(void, comm_get_name,
                  (const int* comm, char* name, int* given, int* error, int length)) {
  *error = get<MPI_MAX_OBJECT_NAME>(name, given, length, [&](char* out, int* size) {
    return MPI_Comm_get_name(*comm, out, size);
  });
}
PHX_FORTRAN_ENTRY(void, comm_set_name,
                  (const int* comm, const char* name, int* error, int length)) {
  *error = MPI_Comm_set_name(*comm, name_of(name, length).c_str());
}
PHX_FORTRAN_ENTRY(void, type_get_name,
                  (const int* datatype, char* name, int* given, int* error, int length)) {
  *error = get<MPI_MAX_OBJECT_NAME>(name, given, length, [&](char* out, int* size) {
    return MPI_Type_get_name(*datatype, out, size);
  });
}
PHX_FORTRAN_ENTRY(void, type_set_name,
                  (const int* datatype, const char* name, int* error, int length)) {
  *error = MPI_Type_set_name(*datatype, name_of(name, length).c_str());
}

// --- Info objects ------------------------------------------------------------------------------

PHX_FORTRAN_ENTRY(void, info_set,
                  (const int* info, const char* key, const char* value, int* error, int key_length,
                   int value_length)) {
  *error =
      MPI_Info_set(*info, text_of(key, key_length).c_str(), text_of(value, value_length).c_str());
}
PHX_FORTRAN_ENTRY(void, info_delete, (const int* info, const char* key, int* error, int length)) {
  *error = MPI_Info_delete(*info, text_of(key, length).c_str());
}
PHX_FORTRAN_ENTRY(void, info_get,
                  (const int* info, const char* key, const int* size, char* value, int* flag,
                   int* error, int key_length, int value_length)) {
  std::array<char, MPI_MAX_INFO_VAL + 1> text{};
  *error = MPI_Info_get(*info, text_of(key, key_length).c_str(), std::min(*size, MPI_MAX_INFO_VAL),
                        text.data(), flag);
  if (*error == MPI_SUCCESS && *flag != 0) give(text.data(), value, value_length);
}
PHX_FORTRAN_ENTRY(void, info_get_valuelen,
                  (const int* info, const char* key, int* size, int* flag, int* error,
                   int length)) {
  *error = MPI_Info_get_valuelen(*info, text_of(key, length).c_str(), size, flag);
}
PHX_FORTRAN_ENTRY(void, info_get_nthkey,
                  (const int* info, const int* number, char* key, int* error, int length)) {
  std::array<char, MPI_MAX_INFO_KEY + 1> text{};
  *error = MPI_Info_get_nthkey(*info, *number, text.data());
  if (*error == MPI_SUCCESS) give(text.data(), key, length);
}

// --- external32 --------------------------------------------------------------------------------

PHX_FORTRAN_ENTRY(void, pack_external,
                  (const char* format, void* in, const int* count, const int* datatype, void* out,
                   const MPI_Aint* size, MPI_Aint* position, int* error, int length)) {
  *error = MPI_Pack_external(text_of(format, length).c_str(), Argument<void*>::take(in), *count,
                             *datatype, out, *size, position);
}
PHX_FORTRAN_ENTRY(void, unpack_external,
                  (const char* format, const void* in, const MPI_Aint* size, MPI_Aint* position,
                   void* out, const int* count, const int* datatype, int* error, int length)) {
  *error = MPI_Unpack_external(text_of(format, length).c_str(), in, *size, position,
                               Argument<void*>::take(out), *count, *datatype);
}
PHX_FORTRAN_ENTRY(void, pack_external_size,
                  (const char* format, const int* count, const int* datatype, MPI_Aint* size,
                   int* error, int length)) {
  *error = MPI_Pack_external_size(text_of(format, length).c_str(), *count, *datatype, size);
}
