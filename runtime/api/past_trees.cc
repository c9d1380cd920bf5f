#include "runtime/api/past_trees.h"

#include <algorithm>
#include <numeric>
#include <string>
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
    std::iota(missing_.begin(), missing_.end(), std::size_t{0});
  }

  std::vector<Payload> run() {
    const auto look = [this](Endpoint& endpoint) { return this->look(endpoint); };
    const auto what = [this] { return waits_for(); };
    const Duration timeout = core_.engine.options().timeout;
    while (true) {
      const std::size_t left = this->left();
      if (core_.engine.await({timeout, what}, look)) return std::move(received_);
      if (this->left() == left) break;  // Else it is only long.
    }
    throw Failure(ErrorCode::kTimeout, waits_for() + " for " + spell(timeout))
        .in(operation_, std::nullopt, core_.engine.processor());
  }

 private:
  using Way = std::pair<Vnode, Vnode>;

  [[nodiscard]] std::size_t left() const {
    std::size_t sends = unconfirmed_.size();
    for (const auto& round : what_.rounds) sends += round.size();
    return sends + missing_.size();
  }

  std::optional<bool> look(Endpoint& endpoint) {
    send_rounds(endpoint);
    std::erase_if(missing_, [&](std::size_t i) {
      auto taken = endpoint.take(selector(i));
      if (taken) received_[i] = std::move(taken->second.payload);
      return taken.has_value();
    });
    if (missing_.empty()) return what_.rounds.empty() ? std::optional(true) : std::nullopt;
    const Status more = endpoint.want(selector(missing_.front()));
    if (is_stuck(endpoint, more.ok())) {
      core_.throw_unless_ok(more, operation_, what_.expected[missing_.front()].at);
    }
    return std::nullopt;
  }

  /// What fills the room here is this exchange itself, and passes; or messages that nobody takes.
  /// These stay as they are, however often what is wanted is sent and refused again.
  bool is_stuck(const Endpoint& endpoint, bool has_room) {
    constexpr int kRefusalsMost = 100;
    const std::pair now(endpoint.inbox_bytes(), left());
    if (has_room || std::exchange(full_at_, now) != now) refusals_ = 0;
    if (has_room || endpoint.count({.hidden_tag = kCollectiveTag}) == 0) return false;
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

  [[nodiscard]] Endpoint::Selector selector(std::size_t i) const {
    const PastTrees::Expected& e = what_.expected[i];
    return {.at = VnodeId{e.at}, .kind = e.kind, .from = VnodeId{e.from}, .tag = kCollectiveTag};
  }
  [[nodiscard]] std::string waits_for() const {
    const std::string name = operation_;
    if (!refused_.empty()) return name + ": " + refused_;
    if (!missing_.empty()) {
      const PastTrees::Expected& first = what_.expected[missing_.front()];
      const std::size_t more = missing_.size() - 1;
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
  std::vector<Payload> received_;
  std::vector<std::size_t> missing_;  ///< Of those expected.
  std::vector<Way> unconfirmed_;      ///< Of the first round, what was sent.
  std::string refused_;               ///< Why no more may be sent for the moment.
  int refusals_ = 0;                  ///< So often there was no room for what is wanted, ...
  std::pair<std::uint64_t, std::size_t> full_at_;  ///< ... while this stayed as it was.
};

}  // namespace

std::vector<Payload> exchange_past_trees(SessionCore& core, PastTrees what, const char* operation) {
  return StraightTraffic(core, std::move(what), operation).run();
}

}  // namespace phx
