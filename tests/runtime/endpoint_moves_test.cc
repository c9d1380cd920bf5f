#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "overlay/base/overloaded.h"
#include "overlay/base/rng.h"
#include "runtime/endpoint/endpoint.h"
#include "tests/support/seeds.h"

namespace phx::runtime::endpoint_moves_test {
namespace {

using Kind = Message::Kind;

/// A mesh in one object: it carries deliveries to whoever holds the vnode, as late, as often and in
/// whatever order the seed says, and moves vnodes between processes while they are on their way.
class Mesh {
 public:
  static constexpr std::uint64_t kVnodes = 6;
  static constexpr std::size_t kProcesses = 3;

  explicit Mesh(std::uint64_t seed) : rng_(seed) {
    for (std::size_t i = 0; i < kProcesses; ++i) {
      processes_.push_back({Endpoint(kConfig), {}, {}, 0});
      processes_[i].inbox.push_back(AppAttached{JobId{1}, ProcessorId{1}, kVnodes, ""});
    }
    for (std::uint64_t v = 0; v < kVnodes; ++v) {
      grant(rng_.below(kProcesses), {VnodeId{v}, 0, {}});
    }
  }

  void step(bool busy) {
    const std::size_t i = rng_.below(kProcesses);
    Process& process = processes_[i];
    switch (rng_.below(6)) {
      case 0:
        return hand_over(i, 1 + rng_.below(4));
      case 1:
        return busy ? command(process) : receive(process);
      case 2:
        return receive(process);
      case 3:
        return safe_point(i);
      case 4:
        return deliver_some();
      default:
        return busy && rng_.chance(0.3) ? move_something() : hand_over(i, 8);
    }
  }

  /// Lets everything come to rest.
  void settle() {
    may_lose_ = false;
    for (int round = 0; round < 3000; ++round) step(false);
    for (int round = 0; !is_quiet(); ++round) {
      REQUIRE(round < 100'000);
      if (is_lost_) repair();
      deliver_some();
      for (std::size_t i = 0; i < kProcesses; ++i) {
        hand_over(i, 100);
        safe_point(i);
        receive(processes_[i]);
        collect(i);
      }
    }
    for (std::size_t i = 0; i < kProcesses; ++i) {
      while (processes_[i].endpoint.count({}) > 0) receive(processes_[i]);
      processes_[i].endpoint.check_invariants();
    }
  }

  void check_complete() const {
    CHECK(taken_ == sent_);
    REQUIRE(!taken_.empty());
    REQUIRE(!broadcasts_.empty());
    REQUIRE(!results_.empty());
    for (std::uint64_t v = 0; v < kVnodes; ++v) {
      for (const auto& [root, count] : broadcasts_) {
        const auto at = heard_.find({VnodeId{v}, root});
        REQUIRE(at != heard_.end());
        CHECK(at->second == count);
      }
    }
    for (const auto& [vnode, count] : results_) CHECK(count == least(kToAll));
    if (least(kToOne) > 0) CHECK(reduced_ == least(kToOne));
  }
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] std::uint64_t moves() const { return moves_; }
  [[nodiscard]] std::uint64_t streams() const { return taken_.size(); }

 private:
  struct Process {
    Endpoint endpoint;
    std::deque<ToApplication> inbox;  ///< From the daemon, in order.
    std::deque<AppDeliver> kept;      ///< Not acknowledged.
    std::uint64_t delivered = 0;
  };
  struct Flying {
    Delivery delivery;
    VnodeSet to;
  };

  [[nodiscard]] bool is_quiet() const {
    return !is_lost_ && flying_.empty() && moving_.empty() && taken_ == sent_ && is_all_heard() &&
           std::all_of(processes_.begin(), processes_.end(), [](const Process& p) {
             return p.inbox.empty() && p.endpoint.next_arrivals().empty();
           });
  }

  [[nodiscard]] bool is_all_heard() const {
    for (const auto& [root, count] : broadcasts_) {
      for (std::uint64_t v = 0; v < kVnodes; ++v) {
        const auto at = heard_.find({VnodeId{v}, root});
        if (count > 0 && (at == heard_.end() || at->second < count)) return false;
      }
    }
    return true;
  }

  void grant(std::size_t process, VnodeParcel parcel) {
    owner_[parcel.vnode] = process;
    AppGrant grant;
    grant.parcels.push_back(std::move(parcel));
    processes_[process].inbox.push_back(std::move(grant));
  }

  void hand_over(std::size_t i, std::uint64_t count) {
    Process& process = processes_[i];
    for (; count > 0 && !process.inbox.empty(); --count) {
      process.endpoint.on_message(std::move(process.inbox.front()));
      process.inbox.pop_front();
    }
    collect(i);
  }

  void collect(std::size_t i) {
    for (ToDaemon& output : processes_[i].endpoint.take_outputs()) {
      std::visit(Overloaded{[&](AppSend& m) {
                              flying_.push_back({m.message, VnodeSet{m.message.to}});
                            },
                            [&](AppFlow& m) {
                              std::visit([&](const auto& flow) { fly(flow); }, m.message);
                            },
                            [&](AppBroadcast& m) {
                              flying_.push_back({BroadcastDelivery{{}, m.piece}, m.to});
                            },
                            [&](AppContribute& m) {
                              check_token(m.token);
                              flying_.push_back({m.token, VnodeSet{m.token.id.target}});
                            },
                            [&](AppReleased& m) { on_released(i, m); },
                            [&](AppAck& m) {
                              auto& kept = processes_[i].kept;
                              while (!kept.empty() && kept.front().seq <= m.received) {
                                kept.pop_front();
                              }
                            },
                            [&](auto&) { FAIL("not expected"); }},
                 output);
    }
  }

  void on_released(std::size_t i, AppReleased& released) {
    for (auto& [vnode, bundle] : released.vnodes) {
      for (const AppDeliver& m : processes_[i].kept) {
        const bool crossed = m.seq > released.received && is_for(m.delivery, vnode);
        if (crossed) flying_.push_back({m.delivery, VnodeSet{vnode}});
      }
      grant(moving_.at(vnode), {vnode, ++moves_, std::move(bundle)});
      moving_.erase(vnode);
    }
  }

  static bool is_for(const Delivery& delivery, VnodeId vnode) {
    return std::visit(
        Overloaded{[&](const PointToPoint& m) { return m.to == vnode; },
                   [&](const BroadcastDelivery& m) { return m.to.contains(vnode); },
                   [&](const collectives::ReductionToken& m) { return m.id.target == vnode; },
                   [&](const FlowCredit& m) { return m.from == vnode; },
                   [&](const FlowQuestion& m) { return m.to == vnode; },
                   [&](const CastCredit& m) { return m.root == vnode; }},
        delivery);
  }

  /// Every vnode gives once under every line.
  void check_token(const collectives::ReductionToken& token) {
    for (const auto& part : token.parts) {
      for (const VnodeId v : part.covered.ids()) {
        CHECK(given_.insert({{v, token.id}, token.line}).second);
      }
    }
  }
  [[nodiscard]] std::uint64_t least(VnodeId target) const {
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint64_t v = 0; v < kVnodes; ++v) {
      const auto at = contributed_.find({VnodeId{v}, target});
      least = std::min(least, at == contributed_.end() ? 0 : at->second);
    }
    return least;
  }

  void fly(const FlowCredit& m) { flying_.push_back({m, VnodeSet{m.from}}); }
  void fly(const FlowQuestion& m) { flying_.push_back({m, VnodeSet{m.to}}); }
  void fly(const CastCredit& m) { flying_.push_back({m, VnodeSet{m.root}}); }

  /// Whoever lost something on its way has died, and all hear of it.
  void repair() {
    is_lost_ = false;
    ++line_;
    for (Process& process : processes_) process.inbox.push_back(AppRepair{line_});
  }

  void deliver_some() {
    if (is_lost_ && rng_.chance(0.02)) repair();
    if (flying_.empty()) return;
    const std::size_t at = rng_.below(flying_.size());
    Flying& chosen = flying_[at];
    const bool is_token = std::holds_alternative<collectives::ReductionToken>(chosen.delivery);
    if (may_lose_ && rng_.chance(0.02)) {
      is_lost_ = true;
      return land(at);
    }
    const std::size_t process = owner_.at(chosen.to.ids()[rng_.below(chosen.to.size())]);
    VnodeSet here;
    for (const VnodeId v : chosen.to.ids()) {
      if (owner_.at(v) == process) here.insert(v);
    }
    Delivery delivery = chosen.delivery;
    if (auto* b = std::get_if<BroadcastDelivery>(&delivery)) b->to = here;
    Process& receiver = processes_[process];
    receiver.kept.push_back({++receiver.delivered, delivery});
    receiver.inbox.push_back(receiver.kept.back());
    if (!is_token && rng_.chance(0.2)) return;  // and once more later
    chosen.to = chosen.to.minus(here);
    if (chosen.to.empty()) land(at);
  }

  /// They fly in no order.
  void land(std::size_t at) {
    std::swap(flying_[at], flying_.back());
    flying_.pop_back();
  }

  void move_something() {
    const VnodeId vnode{rng_.below(kVnodes)};
    if (moving_.contains(vnode)) return;
    moving_[vnode] = rng_.below(kProcesses);
    processes_[owner_.at(vnode)].inbox.push_back(AppRelease{VnodeSet{vnode}});
  }

  void safe_point(std::size_t i) {
    Endpoint& endpoint = processes_[i].endpoint;
    const auto point = endpoint.begin_safe_point(endpoint.due());
    for (const Arrival& arrival : point.arriving) {
      if (arrival.state) CHECK(arrival.state->text() == "state of " + to_string(arrival.vnode));
    }
    std::map<VnodeId, Payload> states;
    for (const VnodeId v : point.departing.ids()) {
      states[v] = Payload::copy_of("state of " + to_string(v));
    }
    endpoint.finish_safe_point(std::move(states));
    collect(i);
  }

  void command(Process& process) {
    if (process.endpoint.held().empty()) return;
    const auto held = process.endpoint.held().ids();
    const VnodeId from = held[rng_.below(held.size())];
    const std::string filling(rng_.below(60), 'x');
    switch (rng_.below(4)) {
      case 0: {
        const std::string text = std::to_string(broadcasts_[from]++) + filling;
        REQUIRE(process.endpoint.broadcast(from, 0, Payload::copy_of(text)).ok());
        return;
      }
      case 1: {
        const std::int64_t value = 1;
        const Payload bytes =
            Payload::copy_of(std::as_bytes(std::span<const std::int64_t>(&value, 1)));
        const bool is_to_all = rng_.chance(0.5);
        const VnodeId target = is_to_all ? kToAll : kToOne;
        ++contributed_[{from, target}];
        REQUIRE(process.endpoint.contribute(from, target, {is_to_all ? kSumToAll : kSum, bytes, 0})
                    .ok());
        return;
      }
      default: {
        const VnodeId to{rng_.below(kVnodes)};
        const std::string text = std::to_string(sent_[{from, to}]++) + filling;
        REQUIRE(process.endpoint.send(from, to, 1, Payload::copy_of(text)).ok());
      }
    }
  }

  /// Every message carries its number within its stream.
  void receive(Process& process) {
    const auto taken = process.endpoint.take({});
    if (!taken) return;
    const auto& [at, message] = *taken;
    if (message.kind == Kind::kAllreduced || message.kind == Kind::kReduced) {
      std::int64_t sum = 0;
      REQUIRE(message.payload.size() == sizeof(sum));
      std::memcpy(&sum, message.payload.bytes().data(), sizeof(sum));
      CHECK(sum == static_cast<std::int64_t>(kVnodes));
      const bool is_to_all = message.kind == Kind::kAllreduced;
      CHECK(message.from == (is_to_all ? kToAll : kToOne));
      CHECK(message.number == (is_to_all ? results_[at]++ : reduced_++));
      return;
    }
    auto& next =
        message.kind == Kind::kBroadcast ? heard_[{at, message.from}] : taken_[{message.from, at}];
    CHECK(std::stoull(std::string(message.payload.text())) == next);
    ++next;
  }

  /// Windows of a few pieces, and less room than one vnode may be sent.
  static constexpr InflowOptions kInflows{.unasked_bytes = 200,
                                          .window_free = 0,
                                          .window_max = 800,
                                          .inbox_bytes = 300,
                                          .inbox_bytes_max = 100'000,
                                          .cast_slack_bytes = 300};
  inline static const EndpointConfig kConfig{.piece_bytes = 24,
                                             .ack_deliveries = 5,
                                             .inflows = kInflows,
                                             .contributions = {.window_bytes = 200, .ahead = 2}};

  static constexpr collectives::ReductionKind kSumToAll{collectives::ReduceOp::kSum,
                                                        collectives::ReduceType::kInt64, true};
  static constexpr collectives::ReductionKind kSum{collectives::ReduceOp::kSum,
                                                   collectives::ReduceType::kInt64, false};
  static constexpr VnodeId kToAll{2}, kToOne{4};

  Rng rng_;
  bool may_lose_ = true;
  bool is_lost_ = false;  ///< Something since the last repair.
  std::vector<Process> processes_;
  std::vector<Flying> flying_;
  std::map<VnodeId, std::size_t> owner_;   ///< Or the one a parcel is on its way to.
  std::map<VnodeId, std::size_t> moving_;  ///< Asked for, and where they go then.
  std::uint64_t moves_ = 0;
  // What the application knows. Streams by (from, to); broadcasts by (vnode, root).
  std::map<std::pair<VnodeId, VnodeId>, std::uint64_t> sent_, taken_, heard_;
  std::map<VnodeId, std::uint64_t> broadcasts_, results_;
  std::map<std::pair<VnodeId, VnodeId>, std::uint64_t> contributed_;  ///< By vnode and target.
  std::uint64_t reduced_ = 0;  ///< Results that came to kToOne.
  std::uint64_t line_ = 0;
  std::set<std::pair<std::pair<VnodeId, collectives::ReductionId>, std::uint64_t>> given_;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/endpoint");

TEST_CASE(
    "moves: every message arrives once and in order, every reduction counts each vnode once") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    CAPTURE(seed);
    Mesh mesh(seed);

    for (int i = 0; i < 4000; ++i) mesh.step(true);
    mesh.settle();

    mesh.check_complete();
    CHECK(mesh.moves() > 20);
    CHECK(mesh.line() > 0);
    CHECK(mesh.streams() > 30);
  }
}

TEST_SUITE_END();

}  // namespace phx::runtime::endpoint_moves_test
