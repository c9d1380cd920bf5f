/// Broadcasts of 1 MB from changing roots and sums over all vnodes, without a pause, for a given
/// time. Every vnode verifies everything it gets, and the sums keep account of that: a message lost
/// or wrong anywhere ends the job. `phoenix demo elastic` runs it while processors come and go.
#include <phoenix.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/demos/demo.h"

namespace {

using demos::say;

struct Settings {
  double seconds = 10;
  double sample_s = 0.2;
  std::uint64_t size = std::uint64_t{1} << 20U;
};

/// What a vnode takes along when it moves.
struct Account {
  std::uint64_t round = 0;
  std::uint64_t verified = 0;  ///< Broadcasts and sums that were right.
  double last_s = 0;           ///< When the last one was complete.
  double pause_s = 0;          ///< The longest time without one.
  // Of vnode 0: the beginning, and the last line that was printed.
  double begin_s = 0;
  double sampled_s = 0;
  std::uint64_t deliveries = 0;  ///< Of broadcasts to processors.
  void state(auto& io) { io(round, verified, last_s, pause_s, begin_s, sampled_s, deliveries); }
};

/// What is summed over all vnodes in every round.
enum Entry : std::size_t { kTerm, kVerified, kProcessors, kIsOver, kEntries };
using Sums = std::array<std::uint64_t, kEntries>;

/// A number that differs from vnode to vnode and from round to round.
constexpr std::uint64_t term(std::uint64_t round, phx::Vnode v) {
  return demos::mix(round ^ (v << 32U)) >> 32U;
}

class Elastic {
 public:
  Elastic(phx::Session& job, const Settings& settings)
      : settings_(settings), job_(job), accounts_(job) {}

  /// The exit code of the program.
  int run() {
    while (job_.safe_point()) {
      const std::uint64_t round = accounts_.begin()->second.round;
      if (round == 0) begin();
      broadcast(round);
      const Sums sums = reduce(round);
      if (job_.holds(0)) sample(round, sums);
      if (sums[kIsOver] > 0) return end(round + 1);
    }
    return 0;
  }

 private:
  void begin() {
    const double now_s = demos::clock_s();
    for (auto& [v, account] : accounts_) account.last_s = account.begin_s = now_s;
    if (!job_.holds(0)) return;
    accounts_[0].sampled_s = now_s;
    say("elastic: begin=%.3f vnodes=%llu bytes=%llu", now_s,
        static_cast<unsigned long long>(job_.vnodes()),
        static_cast<unsigned long long>(settings_.size));
  }

  void complete(Account& account) const {
    const double now_s = demos::clock_s();
    account.pause_s = std::max(account.pause_s, now_s - account.last_s);
    account.last_s = now_s;
    ++account.verified;
  }

  void broadcast(std::uint64_t round) {
    const phx::Vnode root = demos::mix(round) % job_.vnodes();
    const auto bytes = demos::make_bytes(round, settings_.size);
    if (job_.holds(root)) job_.cast(root, bytes);
    const std::uint64_t expected = demos::checksum(bytes);
    for (auto& [v, account] : accounts_) {
      const auto got = job_.recv({.at = v, .kind = phx::Kind::kBroadcast});
      if (got.from != root || demos::checksum(got.payload.bytes()) != expected) {
        demos::wrong("vnode " + std::to_string(v) + " got something else than broadcast " +
                     std::to_string(round) + " of vnode " + std::to_string(root));
      }
      complete(account);
    }
  }

  Sums reduce(std::uint64_t round) {
    const phx::Vnode first = accounts_.begin()->first;
    const Sums sums = job_.allreduce(phx::sum, [&](phx::Vnode v) {
      const Account& account = accounts_[v];
      const bool is_over = v == 0 && demos::clock_s() - account.begin_s >= settings_.seconds;
      Sums terms{};
      terms[kTerm] = term(round, v);
      terms[kVerified] = account.verified;
      terms[kProcessors] = v == first ? 1 : 0;
      terms[kIsOver] = is_over ? 1 : 0;
      return terms;
    });
    std::uint64_t expected = 0;
    for (phx::Vnode v = 0; v < job_.vnodes(); ++v) expected += term(round, v);
    if (sums[kTerm] != expected) demos::wrong("sum " + std::to_string(round));
    // Every vnode has verified one broadcast and one sum per round, and this broadcast.
    if (sums[kVerified] != job_.vnodes() * (2 * round + 1)) {
      demos::wrong("by round " + std::to_string(round) + " the vnodes have verified " +
                   std::to_string(sums[kVerified]) + " results");
    }
    for (auto& [v, account] : accounts_) {
      complete(account);
      ++account.round;
    }
    return sums;
  }

  /// At vnode 0: a line about the time since the last one.
  void sample(std::uint64_t round, const Sums& sums) {
    Account& account = accounts_[0];
    account.deliveries += sums[kProcessors];
    const double span_s = account.last_s - account.sampled_s;
    const bool is_over = sums[kIsOver] > 0;
    if (span_s < settings_.sample_s && !is_over) return;
    const double bytes =
        static_cast<double>(settings_.size) * static_cast<double>(account.deliveries);
    const std::uint64_t rounds = round + 1;
    say("elastic: t=%.3f rounds=%llu processors=%llu rate=%.1f", account.last_s - account.begin_s,
        static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(sums[kProcessors]),
        bytes / span_s / 1e6);
    account.sampled_s = account.last_s;
    account.deliveries = 0;
  }

  int end(std::uint64_t rounds) {
    const auto verified =
        job_.allreduce(phx::sum, [&](phx::Vnode v) { return accounts_[v].verified; });
    const double pause_s =
        job_.allreduce(phx::max, [&](phx::Vnode v) { return accounts_[v].pause_s; });
    const std::uint64_t expected = 2 * rounds * job_.vnodes();
    if (job_.holds(0)) {
      say("elastic: end broadcasts=%llu sums=%llu verified=%llu lost=%llu pause=%.6f",
          static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(rounds),
          static_cast<unsigned long long>(verified),
          static_cast<unsigned long long>(expected - verified), pause_s);
    }
    return verified == expected ? 0 : 1;
  }

  Settings settings_;
  phx::Session& job_;
  phx::Objects<Account> accounts_;
};

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const phx::options::Program app("Continuous broadcasts and sums, each verified by every vnode");
  app.add_option("--seconds", settings.seconds, "How long")
      .check(demos::number_within(0.1, 1e6))
      .capture_default_str();
  app.add_option("--size", settings.size, "Bytes of a broadcast, e.g. 64K, 1M")
      .check(demos::size_in_bytes())
      .capture_default_str();
  app.add_option("--sample", settings.sample_s, "Seconds between two lines of output")
      .check(demos::number_within(0.001, 1e6))
      .capture_default_str();
  if (const auto code = demos::read_options(app, "elastic", argc, argv)) return *code;
  return demos::run("elastic", [&](phx::Session& job) { return Elastic(job, settings).run(); });
}
