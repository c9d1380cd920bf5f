#include "runtime/mpi/engine/leaving.h"

#include <doctest/doctest.h>

#include <map>

#include "tests/mpi/world.h"

namespace phx::mpi::leaving_test {

TEST_SUITE_BEGIN("mpi/leaving");

TEST_CASE("through the daemons so much is packed as the receiver keeps pace, and others pass it") {
  constexpr std::size_t kPacked = std::size_t{40} << 20U;
  Strided from(kPacked);
  Leaving leaving;
  for (const int to : {1, 2}) {
    const Ref<SendRequest> send(new SendRequest(from.buffer(), to));
    leaving.add({to, 7, {}, {}, send, static_cast<MPI_Count>(kPacked)});
  }
  leaving.add({2, 0, Payload(Bytes(10))});
  std::map<int, MPI_Count> sent;
  std::map<int, MPI_Count> kept;
  std::vector<int> packed;
  MPI_Count room = MPI_Count{1} << 40;
  const auto go_on = [&] {
    leaving.go_on(
        [&](const Traffic::Output& output) {
          const auto bytes = static_cast<MPI_Count>(output.payload.size());
          if (bytes > room) return false;
          room -= bytes;
          sent[output.to] += bytes;
          kept[output.to] += bytes;
          return true;
        },
        [&](int to) { return kept[to]; },
        [&](const SendRequest& send) { packed.push_back(send.to); });
  };

  go_on();
  CHECK(sent[1] == Leaving::kAhead);
  CHECK(sent[2] == Leaving::kAhead + 10);
  go_on();
  CHECK(sent[1] == Leaving::kAhead);
  kept[1] -= Traffic::kPart;
  go_on();
  CHECK(sent[1] == Leaving::kAhead + Traffic::kPart);
  room = 0;  // the runtime takes no more: what was packed waits, and nothing else is
  kept[1] = kept[2] = 0;
  go_on();
  room = Traffic::kPart;
  go_on();
  CHECK(sent[1] == Leaving::kAhead + 2 * Traffic::kPart);
  room = MPI_Count{1} << 40;
  go_on();
  CHECK(sent[1] == static_cast<MPI_Count>(kPacked));
  CHECK(sent[2] == static_cast<MPI_Count>(kPacked) + 10);
  CHECK(packed == std::vector{1, 2});
  CHECK(leaving.is_empty());
}

TEST_SUITE_END();

}  // namespace phx::mpi::leaving_test
