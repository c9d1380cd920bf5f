#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/sim/cluster.h"
#include "tests/support/seeds.h"

namespace streams_test {

using namespace phx;
using namespace phx::sim;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

std::uint64_t heap() {
  return std::uint64_t{mallinfo2().uordblks};
}

/// A job with a vnode on each processor of one site, whose messages the test orders.
class Show {
 public:
  Show(std::uint32_t processors, std::uint64_t nic_mbit, WorkloadOptions work)
      : cluster_(options(processors, nic_mbit)) {
    cluster_.add_all();
    REQUIRE(cluster_.stabilize(10s));
    work.vnodes = processors;
    work.balance = false;
    work.has_equal_sizes = true;
    work.piece_bytes = std::size_t{256} << 10U;
    job_ = &cluster_.run_job(work);
    job_->hold_open(true);
    for (std::uint64_t v = 0; v < work.vnodes; ++v) {
      const VnodeId vnode{v};
      REQUIRE(cluster_.run_until([&] { return ledger().holder(vnode).has_value(); }, 10s));
    }
    cluster_.run_for(2s);
  }

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] Workload& job() { return *job_; }
  [[nodiscard]] Ledger& ledger() { return job_->ledger(); }
  [[nodiscard]] Process& process(std::uint64_t vnode) {
    return *cluster_.machine(*ledger().holder(VnodeId{vnode})).process();
  }
  [[nodiscard]] std::uint64_t received() { return ledger().counters().messages; }
  /// Nothing is missing, and the job ends well.
  void check_end() {
    CHECK(cluster_.run_until([&] { return ledger().outstanding() == 0; }, 600s));
    job_->hold_open(false);
    const auto& result = cluster_.result(*job_);
    CHECK(cluster_.run_until([&] { return result.has_value(); }, 60s));
    REQUIRE_MESSAGE(result.has_value(), cluster_.describe());
    CHECK(result->code == 0);
    CHECK(cluster_.violations().all() == std::vector<std::string>{});
  }

 private:
  static ClusterOptions options(std::uint32_t processors, std::uint64_t nic_mbit) {
    ClusterOptions options;
    const std::string text =
        "site A " + std::to_string(processors) + "\nnic " + std::to_string(nic_mbit) + "\n";
    options.topology = overlay::Topology::parse(text).value();
    options.machine.spawn_delay = 1ms;
    return options;
  }

  Cluster cluster_;
  Workload* job_ = nullptr;
};

/// PHX_STREAM=4000 for the whole of it.
std::uint64_t stream_length() {
  const char* wanted = std::getenv("PHX_STREAM");
  return wanted == nullptr ? 1000 : std::strtoull(wanted, nullptr, 10);
}

}  // namespace

TEST_SUITE_BEGIN("sim/streams");

TEST_CASE("a stream to a consumer that takes 2 ms for each message waits at its source" *
          phx::support::long_search()) {
  constexpr std::uint64_t kOutbox = 64 * kMiB;
  constexpr std::uint64_t kInbox = 64 * kMiB;
  constexpr std::uint64_t kWindow = 16 * kMiB;
  WorkloadOptions work;
  work.message_bytes = kMiB;
  work.outbox_bytes = kOutbox;
  work.takes_max = 1;
  work.pause_min = work.pause_max = 2ms;
  Show show(3, 10'000, work);
  const std::uint64_t before = heap();
  const std::uint64_t count = stream_length();
  show.job().order_messages(VnodeId{0}, VnodeId{1}, count);

  std::uint64_t kept = 0;
  std::uint64_t waiting = 0;
  std::uint64_t all = 0;
  const Instant begin = show.cluster().now();
  const auto is_done = [&] {
    kept = std::max(kept, show.process(0).endpoint().outflows().kept_bytes());
    waiting = std::max(waiting, show.process(1).endpoint().inbox_bytes());
    all = std::max(all, heap() - before);
    return show.received() == count;
  };
  CHECK(show.cluster().run_until(is_done, 60s));

  const double each_ms = to_ms(show.cluster().now() - begin) / static_cast<double>(count);
  MESSAGE(count << " x 1 MiB, " << each_ms << " ms each; at most " << kept / kMiB
                << " MiB kept by the source, " << waiting / kMiB << " MiB wait at the consumer, "
                << all / kMiB << " MiB everywhere");
  CHECK(each_ms < 2.2);
  CHECK(kept <= kOutbox + kMiB);
  CHECK(waiting <= kInbox);
  // Payloads are shared, so what is on its way is counted with what its source keeps; but those
  // messages that are put together from pieces are copies.
  CHECK(all <= kOutbox + 2 * kWindow + 8 * kMiB);
  show.check_end();
}

TEST_CASE("an application that is stopped for 60 s slows nobody else down, and goes on then") {
  constexpr std::uint64_t kOthers = 7;
  constexpr VnodeId kStopped{kOthers};
  WorkloadOptions work;
  work.message_bytes = 64 << 10U;
  work.outbox_bytes = 16 * kMiB;
  work.pause_min = work.pause_max = 5ms;
  Show show(kOthers + 1, 20, work);
  for (std::uint64_t v = 0; v < kOthers; ++v) {
    show.job().order_messages(VnodeId{v}, VnodeId{(v + 1) % kOthers}, 1'000'000);
  }
  const auto received_in = [&](Duration span) {
    const std::uint64_t begin = show.received();
    show.cluster().run_for(span);
    return show.received() - begin;
  };
  show.cluster().run_for(5s);
  const std::uint64_t alone = received_in(60s);
  const auto taken_there = [&] { return show.ledger().received_by(kStopped); };
  show.process(kStopped.value).stop_until(show.cluster().now() + 60s);
  for (std::uint64_t v = 0; v < kOthers; ++v) {
    show.job().order_messages(VnodeId{v}, kStopped, 50);
  }
  const std::uint64_t beside = received_in(60s);

  MESSAGE("in 60 s: " << alone << " messages without it, " << beside << " beside it");
  CHECK(static_cast<double>(beside) >= 0.9 * static_cast<double>(alone));
  CHECK(taken_there() == 0);
  CHECK(show.cluster().run_until([&] { return taken_there() == kOthers * 50; }, 60s));
  show.job().drop_orders();
  show.check_end();
}

TEST_SUITE_END();

}  // namespace streams_test
