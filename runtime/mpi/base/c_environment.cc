#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "runtime/mpi/base/entry.h"

using namespace phx::mpi;

namespace {

/// Where an integer or a pointer is never looked at: only the address counts.
int unweighted = 0;
int weights_empty = 0;
MPI_Fint ignored_status = 0;
MPI_Fint ignored_statuses = 0;

}  // namespace

extern "C" {
int* const MPI_UNWEIGHTED = &unweighted;
int* const MPI_WEIGHTS_EMPTY = &weights_empty;
MPI_Fint* MPI_F_STATUS_IGNORE = &ignored_status;
MPI_Fint* MPI_F_STATUSES_IGNORE = &ignored_statuses;
}

void phx::mpi::give_text(const std::string& text, std::size_t limit, char* out, int* length) {
  require(out != nullptr, MPI_ERR_ARG, "the buffer for the text is null");
  const std::size_t size = std::min(text.size(), limit - 1);
  std::memcpy(out, text.data(), size);
  out[size] = '\0';
  if (length != nullptr) *length = static_cast<int>(size);
}

PHX_MPI_ENTRY(int, Get_version, (int* version, int* subversion)) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

PHX_MPI_ENTRY(int, Get_library_version, (char* version, int* length)) {
  give_text("Phoenix MPI 3.1 (binary interface of MPICH 3 and 4)", MPI_MAX_LIBRARY_VERSION_STRING,
            version, length);
  return MPI_SUCCESS;
}

PHX_MPI_ENTRY(int, Get_processor_name, (char* name, int* length)) {
  return enter("MPI_Get_processor_name", [&] {
    std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
    gethostname(host.data(), host.size() - 1);
    give_text(host.data(), MPI_MAX_PROCESSOR_NAME, name, length);
  });
}

PHX_MPI_ENTRY(double, Wtime, (void)) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

PHX_MPI_ENTRY(double, Wtick, (void)) {
  return 1e-9;
}

PHX_MPI_ENTRY(int, Alloc_mem, (MPI_Aint size, MPI_Info /*info*/, void* base)) {
  return enter("MPI_Alloc_mem", [&] {
    require(size >= 0, MPI_ERR_ARG, "the size is negative");
    require(base != nullptr, MPI_ERR_ARG, "the pointer to the memory is null");
    constexpr MPI_Aint kAddresses = MPI_Aint{1} << 47;  // of a process
    require(size < kAddresses, MPI_ERR_NO_MEM, "no process has so much memory");
    void* memory = std::malloc(size > 0 ? static_cast<std::size_t>(size) : 1);
    require(memory != nullptr, MPI_ERR_NO_MEM, "there is not so much memory");
    *static_cast<void**>(base) = memory;
  });
}

PHX_MPI_ENTRY(int, Free_mem, (void* base)) {
  return enter("MPI_Free_mem", [&] { std::free(base); });
}

PHX_MPI_ENTRY(int, Pcontrol, (const int /*level*/, ...)) {
  return MPI_SUCCESS;
}
