#include "runtime/api/past_trees.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace phx {
namespace {

using runtime::Endpoint;

/// Sends and receives at once: if all sent first and received afterwards, those whose limit is
/// reached would wait for each other.
class StraightTraffic {
 public:
  StraightTraffic(SessionCore& core, PastTrees&& what, const char* operation)
      : core_(core),
        operation_(operation),
        what_(std::move(what)),
        received_(what_.expected.size()),
        missing_(what_.expected.size()) {
    for (std::size_t i = 0; i < missing_; ++i) {
      const PastTrees::Expected& e = what_.expected[i];
      awaited_[{VnodeId{e.at}, VnodeId{e.from}, e.kind}].push_back(i);
    }
  }

  std::vector<Payload> run() {
    const auto look = [this](Endpoint& endpoint) { return this->look(endpoint); };
    const auto what = [this] { return waits_for(); };
    const Duration timeout = core_.engine.options().timeout;
    while (true) {
      const std::size_t left = this->left();
      if (core_.engine.await({timeout, what}, look)) return received();
      if (this->left() == left) break;  // Else it is only long.
    }
    throw Failure(ErrorCode::kTimeout, waits_for() + " for " + spell(timeout))
        .in(operation_, std::nullopt, core_.engine.processor());
  }

 private:
  using Way = std::pair<Vnode, Vnode>;
  using Awaited = std::tuple<VnodeId, VnodeId, Kind>;  ///< At, from.

  [[nodiscard]] std::size_t left() const {
    std::size_t sends = unconfirmed_.size();
    for (const auto& round : what_.rounds) sends += round.size();
    return sends + missing_;
  }
  std::vector<Payload> received() {
    std::vector<Payload> all;
    all.reserve(received_.size());
    for (auto& payload : received_) all.push_back(std::move(*payload));
    return all;
  }

  std::optional<bool> look(Endpoint& endpoint) {
    send_rounds(endpoint);
    take(endpoint);
    if (missing_ == 0) return what_.rounds.empty() ? std::optional(true) : std::nullopt;
    const PastTrees::Expected& first = first_missing();
    const Status more = endpoint.want({.at = VnodeId{first.at},
                                       .kind = first.kind,
                                       .from = VnodeId{first.from},
                                       .tag = kCollectiveTag});
    if (is_stuck(endpoint, more.ok())) core_.throw_unless_ok(more, operation_, first.at);
    return std::nullopt;
  }

  /// What has come since this was called last: to look for each that is missing, each time, would
  /// cost the square of their number.
  void take(Endpoint& endpoint) {
    if (missing_ == 0) return;
    std::vector<std::size_t> taken;
    const auto accepts = [&](VnodeId at, const runtime::Message& message) {
      if (message.tag != kCollectiveTag) return false;
      const auto awaited = awaited_.find({at, message.from, message.kind});
      if (awaited == awaited_.end() || awaited->second.empty()) return false;
      taken.push_back(awaited->second.front());
      awaited->second.pop_front();
      return true;
    };
    std::vector<runtime::Received> messages = endpoint.take_if(accepts, looked_at_);
    looked_at_ = endpoint.arrivals();
    for (std::size_t i = 0; i < taken.size(); ++i) {
      received_[taken[i]] = std::move(messages[i].second.payload);
    }
    missing_ -= taken.size();
    while (first_ < received_.size() && received_[first_]) ++first_;
  }

  /// What fills the room here is this exchange itself, and passes; or messages that nobody takes.
  /// These stay as they are, however often what is wanted is sent and refused again.
  bool is_stuck(const Endpoint& endpoint, bool has_room) {
    constexpr int kRefusalsMost = 100;
    const std::pair now(endpoint.inbox_bytes(), left());
    if (has_room || std::exchange(full_at_, now) != now) refusals_ = 0;
    const Endpoint::Selector others{.hidden_tag = kCollectiveTag, .reserved = &core_.reserved};
    if (has_room || endpoint.count(others) == 0) return false;
    return ++refusals_ > kRefusalsMost;
  }

  void send_rounds(Endpoint& endpoint) {
    while (!what_.rounds.empty() && send_round(endpoint, what_.rounds.front()) &&
           is_confirmed(endpoint)) {
      what_.rounds.pop_front();
    }
  }
  /// Whether all of it was sent.
  bool send_round(Endpoint& endpoint, std::deque<PastTrees::Sent>& round) {
    while (!round.empty()) {
      const auto& [from, to, payload] = round.front();
      const Status status = to ? endpoint.send(VnodeId{from}, VnodeId{*to}, kCollectiveTag, payload)
                               : endpoint.broadcast(VnodeId{from}, kCollectiveTag, payload);
      refused_ = status.ok() ? "" : status.error().what;
      if (!status.ok() && status.error().code == ErrorCode::kLimit) return false;
      core_.throw_unless_ok(status, operation_, from);
      if (to && what_.is_confirmed) unconfirmed_.emplace_back(from, *to);
      round.pop_front();
      // Who is asked answers when it has all; so nobody is asked before the last one has left.
      if (!round.empty()) continue;
      for (const Way& way : unconfirmed_) endpoint.ask(VnodeId{way.first}, VnodeId{way.second});
    }
    return true;
  }
  bool is_confirmed(const Endpoint& endpoint) {
    std::erase_if(unconfirmed_, [&](const Way& way) {
      return endpoint.outflows().is_all_received(VnodeId{way.first}, VnodeId{way.second});
    });
    return unconfirmed_.empty();
  }

  [[nodiscard]] const PastTrees::Expected& first_missing() const { return what_.expected[first_]; }
  [[nodiscard]] std::string waits_for() const {
    const std::string name = operation_;
    if (!refused_.empty()) return name + ": " + refused_;
    if (missing_ > 0) {
      const PastTrees::Expected& first = first_missing();
      const std::size_t more = missing_ - 1;
      return name + ": nothing has come from v" + std::to_string(first.from) + " to v" +
             std::to_string(first.at) +
             (more == 0 ? "" : ", and " + std::to_string(more) + " more");
    }
    if (unconfirmed_.empty()) return name;
    const auto& [from, to] = unconfirmed_.front();
    return name + ": v" + std::to_string(to) + " has not received what v" + std::to_string(from) +
           " sends in this step";
  }

  SessionCore& core_;
  const char* operation_;
  PastTrees what_;  ///< Its rounds: what has not been sent, or not been confirmed.
  std::vector<std::optional<Payload>> received_;        ///< Of each that is expected.
  std::size_t missing_;                                 ///< So many have not come, and
  std::size_t first_ = 0;                               ///< this is the first of them.
  std::map<Awaited, std::deque<std::size_t>> awaited_;  ///< All of them.
  std::uint64_t looked_at_ = 0;                         ///< What came before has been looked at.
  std::vector<Way> unconfirmed_;                        ///< Of the first round, what was sent.
  std::string refused_;                                 ///< Why no more may be sent for the moment.
  int refusals_ = 0;  ///< So often there was no room for what is wanted, ...
  std::pair<std::uint64_t, std::size_t> full_at_;  ///< ... while this stayed as it was.
};

}  // namespace

std::vector<Payload> exchange_past_trees(SessionCore& core, PastTrees what, const char* operation) {
  return StraightTraffic(core, std::move(what), operation).run();
}

}  // namespace phx
