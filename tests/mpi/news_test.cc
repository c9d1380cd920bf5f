#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "runtime/mpi/engine/schedule.h"
#include "tests/mpi/world.h"

namespace phx::mpi::news_test {

TEST_SUITE_BEGIN("mpi/news");

TEST_CASE(
    "a message that finds no receive is news for who probes, also one to the process itself") {
  for (const int sender : {0, 1}) {
    CAPTURE(sender);
    World world(2, 1);
    std::vector<char> bytes(8);
    const Buffer buffer(bytes.data(), 8, MPI_BYTE);
    const std::uint64_t news = world.at(0).news();
    const std::uint64_t completions = world.at(0).completions();

    REQUIRE(world.at(sender).send_at_once(world.scope(sender), 0, 3, buffer));
    world.run();

    CHECK(world.at(0).look({0, sender, 3}) != nullptr);
    CHECK(world.at(0).news() > news);
    CHECK(world.at(0).completions() == completions);
  }
}

TEST_CASE("an exception half-way does not let later operations wait for ever") {
  World world(1, 1);
  const Buffer nothing(nullptr, 0, MPI_BYTE);
  const auto begin = [&] {
    const Ref<Schedule> schedule(new Schedule(world.scope(0)));
    schedule->receive(0, nothing);
    schedule->send(0, nothing);
    schedule->run([] { throw std::domain_error("thrown"); });
    world.at(0).start(schedule);
  };
  CHECK_THROWS_AS(begin(), std::domain_error);
  CHECK_THROWS_AS(begin(), std::runtime_error);
}

TEST_SUITE_END();

}  // namespace phx::mpi::news_test
