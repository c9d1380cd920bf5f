// How fast datatypes are packed and unpacked, beside memcpy of as many bytes. Run by hand.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ratio>

#include "runtime/mpi/datatypes/pack.h"
#include "tests/mpi_types/running.h"

namespace phx::mpi {
namespace {

constexpr int kTurns = 10;

/// Bytes per nanosecond; the best of several runs.
template <class Work>
double speed_of(MPI_Count bytes, Work work) {
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kTurns; ++i) work();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    best = std::max(best, kTurns * static_cast<double>(bytes) / time.count());
  }
  return best;
}

void compare(const char* name, MPI_Datatype datatype) {
  MPI_Type_commit(&datatype);
  const Datatype& object = datatype_of(datatype);
  std::vector<std::byte> memory(static_cast<std::size_t>(object.layout().bounds.true_ub()) + 64);
  const Buffer buffer(memory.data(), 1, object);
  const MPI_Count bytes = buffer.bytes();
  std::vector<std::byte> packed(static_cast<std::size_t>(bytes));
  std::vector<std::byte> other(static_cast<std::size_t>(bytes));
  const double copy = speed_of(bytes, [&] {
    std::memcpy(packed.data(), other.data(), packed.size());
    other[0] = packed[packed.size() / 2];
  });
  const double pack = speed_of(bytes, [&] { buffer.pack(0, bytes, packed.data()); });
  const double unpack = speed_of(bytes, [&] { buffer.unpack(0, bytes, packed.data()); });
  std::printf("%-34s %8ld bytes  memcpy %6.2f GB/s  pack %.2f x  unpack %.2f x\n", name, bytes,
              copy, pack / copy, unpack / copy);
}

void run() {
  const Running running;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  for (const int count : {1000, 30000, 1000000, 16000000}) {
    MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &made);
    compare("each second double", made);
    MPI_Type_vector(count / 4, 4, 8, MPI_DOUBLE, &made);
    compare("4 of 8 doubles", made);
  }
  const int sizes[] = {200, 200, 200};
  const int parts[] = {100, 100, 100};
  const int starts[] = {50, 50, 50};
  const int corner[] = {0, 0, 0};
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &made);
  compare("cube in a cube", made);
  const int face[] = {200, 200, 1};
  MPI_Type_create_subarray(3, sizes, face, corner, MPI_ORDER_C, MPI_DOUBLE, &made);
  compare("face of a cube", made);
}

}  // namespace
}  // namespace phx::mpi

int main() {
  phx::mpi::run();
}
