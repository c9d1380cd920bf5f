#include "runtime/mpi/calls/waiting.h"

#include <doctest/doctest.h>

#include <vector>

namespace phx::mpi::waiting_test {

TEST_SUITE_BEGIN("mpi/waiting");

namespace {

/// So many requests under way, and what a program has of them. Closed at the end.
class Open {
 public:
  explicit Open(int count) {
    for (int i = 0; i < count; ++i) {
      made_.emplace_back(new Request(Request::Kind::kReceive));
      handles_.push_back(requests().open(made_.back().get()));
    }
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open() {
    for (MPI_Request& handle : handles_) {
      if (handle != MPI_REQUEST_NULL) close_request(&handle);
    }
  }
  [[nodiscard]] Several several() const {
    return Several(static_cast<int>(handles_.size()), handles_.data());
  }
  void complete(int i) { made_[static_cast<std::size_t>(i)]->is_done = true; }
  void collect(int i) { close_request(&handles_[static_cast<std::size_t>(i)]); }

 private:
  std::vector<Ref<Request>> made_;
  std::vector<MPI_Request> handles_;
};

}  // namespace

TEST_CASE("costs: who waits for any of many looks at one for each that is over in order") {
  constexpr int kRequests = 10'000;
  Open open(kRequests);
  std::uint64_t looks = 0;
  for (int i = 0; i < kRequests; ++i) {
    open.complete(i);
    Several several = open.several();
    REQUIRE(several.any(0) == i);
    looks += several.looks();
    open.collect(i);
  }
  CHECK(looks == kRequests);
  Several several = open.several();
  CHECK(several.any(0) == Several::kNothing);
  CHECK(several.all());
  CHECK(several.looks() == 0);
}

TEST_CASE("costs: nobody is looked at again before something has been completed") {
  constexpr int kRequests = 100;
  Open open(kRequests);
  Several several = open.several();
  for (int i = 0; i < 1000; ++i) REQUIRE(several.any(7) == Several::kOpen);
  CHECK(several.looks() == kRequests);
  open.complete(40);
  CHECK(several.any(8) == 40);
  CHECK(several.looks() == kRequests + 41);
}

TEST_CASE("costs: whether all are over is one look, as long as the first one is not") {
  constexpr int kRequests = 100;
  Open open(kRequests);
  Several several = open.several();
  CHECK_FALSE(several.all());
  CHECK(several.looks() == 1);
  for (int i = 0; i < kRequests; ++i) open.complete(i);
  CHECK(several.all());
  CHECK(several.looks() == 1 + kRequests);
}

TEST_CASE("some are all that are over, and what is no request is told when it is looked at") {
  Open open(5);
  open.complete(3);
  open.complete(1);
  int over[5] = {};
  Several several = open.several();
  CHECK(several.some(1, over) == 2);
  CHECK(over[0] == 1);
  CHECK(over[1] == 3);
  open.collect(1);
  open.collect(3);
  Several rest = open.several();
  CHECK(rest.some(1, over) == Several::kOpen);
  CHECK_NOTHROW(rest.check());

  const MPI_Request wrong[] = {MPI_REQUEST_NULL, 4711};
  Several other(2, wrong);
  CHECK_NOTHROW(other.check_seen());
  CHECK(other.any(1) == Several::kNothing);
  CHECK_THROWS_AS(other.check_seen(), Failure);
}

TEST_SUITE_END();

}  // namespace phx::mpi::waiting_test
