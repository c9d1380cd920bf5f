#include "apps/experiments/round_trial.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/median.h"
#include "overlay/base/rng.h"
#include "runtime/sim/cluster.h"

namespace phx::app {
namespace {

using sim::MachineId;

constexpr Duration kStart = 60s;
/// Until bandwidths are known, and trees that settle have settled.
constexpr Duration kSettle = 6s;
constexpr Duration kRoundMost = 600s;
constexpr std::uint64_t kVnodesEach = 2;

class RoundTrial {
 public:
  explicit RoundTrial(const RoundTrialOptions& options)
      : options_(options), cluster_(cluster_options(options)) {
    const std::uint64_t vnodes = kVnodesEach * options.topology.processors();
    for (std::uint64_t v = 0; v < vnodes; ++v) roots_.push_back(VnodeId{v});
    Rng rng(options.seed);
    for (std::size_t i = roots_.size(); options.is_shuffled && i > 1; --i) {
      std::swap(roots_[i - 1], roots_[static_cast<std::size_t>(rng.below(i))]);
    }
  }

  Result<RoundTrialTimes> run() {
    if (!start()) return broken("the simulated mesh does not form");
    if (!go_round(/*overlapping=*/false)) return broken("a broadcast does not end");
    cluster_.run_for(kSettle);
    const std::uint64_t moves = job_->ledger().counters().moves;
    const sim::Meter before = cluster_.network().meter();
    if (options_.change_every > Duration::zero()) change_later();
    RoundTrialTimes times;
    const Instant begin = cluster_.now();
    if (!go_rounds(/*overlapping=*/true)) return broken("a broadcast does not end");
    times.overlapping = (cluster_.now() - begin) / static_cast<Duration::rep>(roots_.size()) /
                        static_cast<Duration::rep>(options_.rounds);
    alone_.clear();
    if (!go_rounds(/*overlapping=*/false)) return broken("a broadcast does not end");
    std::vector<double> alone;
    for (const Duration time : alone_) alone.push_back(static_cast<double>(time.count()));
    times.alone_median = Duration{static_cast<Duration::rep>(median(std::move(alone)))};
    times.alone_most = *std::ranges::max_element(alone_);
    const sim::Meter cost = cluster_.network().meter().since(before);
    const auto past = static_cast<double>(cost.of("FallbackCopy").messages);
    const auto along = static_cast<double>(cost.of("TreeCopy").messages);
    times.past_percent = past > 0 ? 100 * past / (past + along) : 0;
    times.moves = job_->ledger().counters().moves - moves;
    const auto violations = cluster_.violations().all();
    if (!violations.empty()) return broken(*violations.begin());
    return times;
  }

 private:
  static Error broken(const std::string& what) { return Error{ErrorCode::kAborted, what}; }

  static sim::ClusterOptions cluster_options(const RoundTrialOptions& options) {
    sim::ClusterOptions cluster;
    cluster.topology = options.topology;
    cluster.seed = options.seed;
    cluster.machine.spawn_delay = 1ms;
    cluster.daemon.trees = options.trees;
    cluster.daemon.tree_style = options.tree_style;
    return cluster;
  }

  bool start() {
    constexpr Duration kTurn = 100us;  // of a process: an order is carried out at its next one
    cluster_.add_all();
    if (!cluster_.stabilize(kStart)) return false;
    sim::WorkloadOptions work;
    work.vnodes = roots_.size();
    work.message_bytes = 64;
    work.has_equal_sizes = true;
    work.state_bytes = 0;
    work.send_chance = work.safe_point_chance = 1.0;
    work.pause_min = work.pause_max = kTurn;
    work.on_arrival = [this](Instant now, MachineId at, const runtime::ToApplication& message) {
      on_arrival(now, at, message);
    };
    job_ = &cluster_.run_job(work);
    job_->hold_open(true);
    return cluster_.run_until([this] { return are_all_held(); }, kStart);
  }
  bool are_all_held() {
    return std::ranges::all_of(roots_,
                               [this](VnodeId v) { return job_->ledger().holder(v).has_value(); });
  }

  void on_arrival(Instant now, MachineId at, const runtime::ToApplication& message) {
    const auto* delivered = std::get_if<runtime::AppDeliver>(&message);
    if (delivered == nullptr) return;
    const auto* broadcast = std::get_if<runtime::BroadcastDelivery>(&delivered->delivery);
    if (broadcast == nullptr || broadcast->piece.purpose != collectives::Purpose::kApplication) {
      return;
    }
    if (next_ == 0 || broadcast->piece.root != roots_[next_ - 1]) return;
    if (reached_.empty()) first_ = now;
    reached_.insert(at);
    last_ = now;
  }

  bool go_rounds(bool overlapping) {
    for (int round = 0; round < options_.rounds; ++round) {
      if (!go_round(overlapping)) return false;
    }
    return true;
  }
  /// Each root in turn. False: not within the time there is.
  bool go_round(bool overlapping) {
    next_ = 0;
    reached_.clear();
    return cluster_.run_until([&] { return take_turn(overlapping); }, kRoundMost);
  }
  /// To be called after each step. Whether the round is over.
  bool take_turn(bool overlapping) {
    const bool is_over = next_ > 0 && !reached_.empty() && job_->ledger().outstanding() == 0;
    if (is_over && !overlapping) alone_.push_back(last_ - first_);
    if (next_ == roots_.size()) return is_over;
    bool may_begin = next_ == 0 || is_over;
    if (overlapping && !may_begin) {
      const auto holder = job_->ledger().holder(roots_[next_]);
      may_begin = holder && reached_.contains(*holder);
    }
    if (!may_begin) return false;
    reached_.clear();
    job_->order_broadcast(roots_[next_++]);
    return false;
  }

  /// One joins; the next time it leaves.
  void change_later() {
    cluster_.agenda().schedule_in(options_.change_every, [this] {
      if (newcomer_) {
        cluster_.drain(*std::exchange(newcomer_, std::nullopt));
      } else {
        newcomer_ = cluster_.add_machine(changes_++ % options_.topology.sites.size());
      }
      change_later();
    });
  }

  RoundTrialOptions options_;
  sim::Cluster cluster_;
  sim::Workload* job_ = nullptr;
  std::vector<VnodeId> roots_;
  std::size_t next_ = 0;         ///< Of roots: the first that has not been told to begin.
  std::set<MachineId> reached_;  ///< By the broadcast of the one before it.
  Instant first_{}, last_{};     ///< When its own process had it; when the last one did.
  std::vector<Duration> alone_;  ///< Of broadcasts while nothing else was under way.
  std::optional<MachineId> newcomer_;
  std::size_t changes_ = 0;
};

}  // namespace

Result<RoundTrialTimes> round_trial(const RoundTrialOptions& options) {
  return RoundTrial(options).run();
}

}  // namespace phx::app
