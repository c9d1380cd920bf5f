// What MPICH's own header says, if it is installed; it cannot stand in one file with ours.
#include <map>
#include <string>

#ifdef PHX_MPICH_HEADER
#define MPICH_SKIP_MPICXX
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include PHX_MPICH_HEADER
#endif

std::map<std::string, long long> constants_of_mpich() {
  return {
#ifdef PHX_MPICH_HEADER
#define X(name) {#name, (long long)(name)},
#include PHX_MPI_CONSTANT_NAMES
#endif
  };
}
