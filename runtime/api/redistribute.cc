#include "runtime/api/redistribute.h"

#include <deque>
#include <utility>

#include "runtime/api/collectives.h"
#include "runtime/api/fresh_payload.h"
#include "runtime/api/redistribution_plan.h"
#include "runtime/tcp/steady_now.h"

namespace phx {
namespace {

constexpr const char* kRedistribute = "redistribute";
/// Whose process makes the plan.
constexpr Vnode kPlanner = 0;
/// For the daemon to say what it knows; else all ways are taken for alike.
constexpr Duration kNetworkTime = 10s;

/// What is wrong with this process's part already; empty: nothing.
std::string wrong_here(const SessionCore& core, const Parcels& sent, const Redistribution& how) {
  const auto elsewhere = [&](Vnode v) {
    return core.holds(v) ? std::string()
                         : "p" + std::to_string(core.engine.processor().value) +
                               " has a part of v" + std::to_string(v) + ", which it does not hold";
  };
  for (const auto& [v, parcels] : sent) {
    if (auto what = elsewhere(v); !what.empty()) return what;
  }
  for (const auto& [v, sizes] : how.expected) {
    if (auto what = elsewhere(v); !what.empty()) return what;
  }
  return {};
}

/// Of each vnode held.
VnodeValues declarations(const SessionCore& core, const Parcels& sent, const Redistribution& how) {
  const std::string problem = wrong_here(core, sent, how);
  VnodeValues values;
  for (const Vnode v : core.held()) {
    Declaration one{.processor = core.engine.processor().value,
                    .schedule = how.schedule,
                    .pace = how.pace,
                    .setup_bytes = how.setup_bytes,
                    .sent = {},
                    .problem = problem};
    if (const auto row = sent.find(v); row != sent.end()) {
      for (const auto& [to, payload] : row->second) {
        one.sent[to] = static_cast<std::int64_t>(payload.size());
      }
    }
    const auto expected = how.expected.find(v);
    one.is_checked = expected != how.expected.end();
    if (one.is_checked) one.expected = expected->second;
    values.emplace_back(v, encode(one));
  }
  return values;
}

/// As this process's daemon knows it, if the schedule depends on it.
overlay::KnownNetwork known_network(SessionCore& core, const Redistribution& how) {
  if (how.schedule == "rotation" || how.schedule == "ranks") return {};
  core.engine.call([](runtime::Endpoint& endpoint) { endpoint.ask_network(); });
  const Engine::Patience patience{kNetworkTime, [] { return std::string("redistribute"); }};
  auto network = core.engine.await(
      patience, [](runtime::Endpoint& endpoint) { return endpoint.take_network(); });
  return network && network->check().ok() ? *std::move(network) : overlay::KnownNetwork();
}

/// One process's part of carrying out a plan.
class Execution {
 public:
  Execution(SessionCore& core, const Parcels& sent) : core_(core), sent_(sent) {
    for (const Vnode v : core_.held()) got_[v];
  }

  Parcels run(const RedistributionPlan& plan, Pace pace) {
    PastTrees all{.rounds = {}, .is_confirmed = pace != Pace::kNoBarrier, .expected = {}};
    for (const auto& step : plan.steps) {
      add(step, all);
      if (pace == Pace::kBarrierSendReceive) exchange(std::exchange(all, {{}, true, {}}));
    }
    if (pace == Pace::kNoBarrier) all.rounds = {in_one(std::move(all.rounds))};
    exchange(std::move(all));
    for (const auto& [ends, parts] : parts_) got_[ends.first][ends.second] = joined(parts);
    pass_here();
    return std::move(got_);
  }

 private:
  using Round = std::deque<PastTrees::Sent>;

  void add(const std::vector<PlannedPart>& step, PastTrees& what) {
    Round round;
    for (const auto& [from, to, bytes] : step) {
      if (got_.contains(to)) what.expected.push_back({to, from});
      if (!got_.contains(from)) continue;
      std::size_t& offset = offsets_[{from, to}];
      const Payload& whole = sent_.at(from).at(to);
      round.push_back({from, to, whole.slice(offset, static_cast<std::size_t>(bytes))});
      offset += static_cast<std::size_t>(bytes);
    }
    if (!round.empty()) what.rounds.push_back(std::move(round));
  }
  static Round in_one(std::deque<Round> rounds) {
    Round all;
    for (Round& round : rounds) {
      for (PastTrees::Sent& sent : round) all.push_back(std::move(sent));
    }
    return all;
  }
  void exchange(PastTrees what) {
    const std::vector<PastTrees::Expected> expected = what.expected;
    auto received = exchange_past_trees(core_, std::move(what), kRedistribute);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      parts_[{expected[i].at, expected[i].from}].push_back(std::move(received[i]));
    }
  }
  void pass_here() {
    for (const auto& [from, row] : sent_) {
      for (const auto& [to, payload] : row) {
        if (got_.contains(to)) got_[to][from] = payload;
      }
    }
  }

  SessionCore& core_;
  const Parcels& sent_;
  Parcels got_;                                             ///< Has an entry of each vnode held.
  std::map<std::pair<Vnode, Vnode>, std::size_t> offsets_;  ///< By (from, to): so much has left.
  std::map<std::pair<Vnode, Vnode>, std::vector<Payload>> parts_;  ///< By (to, from).
};

}  // namespace

Parcels redistribute(SessionCore& core, const Parcels& sent, const Redistribution& how) {
  Collectives collectives(core);
  const auto all = collectives.gather(kPlanner, declarations(core, sent, how), kRedistribute);
  const auto make = [&] {
    const Planning planning{known_network(core, how), [] { return tcp::steady_now() - Instant{}; }};
    return encode(plan_redistribution(
        decode_all<Declaration>("redistribute: what is declared by", *all), planning));
  };
  const auto plan =
      decode<RedistributionPlan>(collectives.broadcast(kPlanner, make, kRedistribute));
  if (!plan.problem.empty()) {
    throw Failure(ErrorCode::kBadInput, std::string(kRedistribute) + ": " + plan.problem)
        .in(kRedistribute, std::nullopt, core.engine.processor());
  }
  return Execution(core, sent).run(plan, how.pace);
}

}  // namespace phx
