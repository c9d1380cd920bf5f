#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sim/cluster.h"

namespace ends_test {

using namespace phx;
using namespace phx::sim;

namespace {

constexpr std::uint64_t kVnodes = 8;
constexpr std::uint64_t kLarge = 2;  ///< The last ones carry 300,000 bytes each; the others little.

/// Four processors with two vnodes each. A state of the large ones takes about 400 ms.
ClusterOptions options(std::uint64_t seed) {
  ClusterOptions options;
  options.seed = seed;
  options.topology = overlay::Topology::uniform({2, 2}, {10ms, 0});
  options.daemon.state_piece_bytes = 4096;
  options.daemon.state_window_bytes = 16384;
  return options;
}

WorkloadOptions work() {
  WorkloadOptions work;
  work.vnodes = kVnodes;
  work.message_bytes = 40'000;
  work.has_equal_sizes = true;
  work.state_of = [](VnodeId vnode) -> std::size_t {
    return vnode.value < kVnodes - kLarge ? 100 : 300'000;
  };
  return work;
}

/// A job of which the processors with the large vnodes are drained. Some time later the others send
/// these more than was asked for, and v0 broadcasts the end, on which everybody stops.
class End {
 public:
  explicit End(std::uint64_t seed) : cluster_(options(seed)) {
    cluster_.add_all();
    REQUIRE(cluster_.stabilize(10s));
    job_ = &cluster_.run_job(work());
    job_->hold_open(true);
    for (std::uint64_t v = 0; v < kVnodes; ++v) {
      const auto is_held = [&] { return job_->ledger().holder(VnodeId{v}).has_value(); };
      REQUIRE(cluster_.run_until(is_held, 10s));
    }
  }

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] MachineId holder(std::uint64_t vnode) {
    return *job_->ledger().holder(VnodeId{vnode});
  }
  void order_end() {
    for (std::uint64_t from = 0; from < kVnodes - kLarge; ++from) {
      for (std::uint64_t to = kVnodes - kLarge; to < kVnodes; ++to) {
        job_->order_messages(VnodeId{from}, VnodeId{to}, 4);
      }
    }
    job_->order_end(VnodeId{0});
  }
  [[nodiscard]] std::uint64_t sent(const std::string& kind) {
    return cluster_.network().meter().of(kind).messages;
  }
  void check_end() {
    const auto& result = cluster_.result(*job_);
    CHECK(cluster_.run_until([&] { return result.has_value(); }, 20s));
    REQUIRE_MESSAGE(result.has_value(), cluster_.describe());
    CHECK(result->code == 0);
    CHECK(result->reason == "");
    CHECK(cluster_.violations().all() == std::vector<std::string>{});
  }

 private:
  Cluster cluster_;
  Workload* job_ = nullptr;
};

}  // namespace

TEST_SUITE_BEGIN("sim/ends");

// Who has taken the end refuses the rest of a state, and the others wait for what the leaver keeps:
// unless it gives that back nobody ends.
TEST_CASE("all stop on a broadcast while a processor gives its vnodes to those who stop") {
  constexpr std::uint64_t kTimes = 24;
  const std::uint64_t offers_max = 2 * (kVnodes + kLarge);
  for (std::uint64_t time = 1; time <= kTimes; ++time) {
    CAPTURE(time);
    End end(time);
    const MachineId leaver = end.holder(kVnodes - 1);
    end.cluster().drain(leaver);
    end.cluster().run_for(time * 20ms);
    end.order_end();
    end.check_end();
    CHECK(end.sent("Offer") <= offers_max);
    const auto has_left = [&] { return !end.cluster().machine(leaver).is_running(); };
    CHECK(end.cluster().run_until(has_left, 10s));
  }
}

TEST_CASE("all stop on a broadcast while two processors leave") {
  constexpr std::uint64_t kTimes = 24;
  for (std::uint64_t time = 1; time <= kTimes; ++time) {
    CAPTURE(time);
    End end(100 + time);
    const MachineId leaver = end.holder(kVnodes - 1);
    const MachineId other = end.holder(2);
    end.cluster().drain(leaver);
    end.cluster().run_for(time * 10ms);
    end.cluster().drain(other);
    end.cluster().run_for(time * 10ms);
    end.order_end();
    end.check_end();
    for (const MachineId each : {leaver, other}) {
      const auto has_left = [&] { return !end.cluster().machine(each).is_running(); };
      CHECK(end.cluster().run_until(has_left, 10s));
    }
  }
}

TEST_SUITE_END();

}  // namespace ends_test
