#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "runtime/endpoint/endpoint_config.h"
#include "runtime/endpoint/window_tuner.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// The receiving ends of the flows to the vnodes held here: gives credit as the program takes, and
/// refuses what does not fit. The windows of busy flows grow while that makes them faster; time is
/// used for nothing else. Not thread-safe: one owner.
///
/// Guarantees: what was refused is asked for again when there is room, or when a waiting call may
/// want it; what waits here stays below `inbox_bytes`, but for one flow, which may always go on,
/// and for what waiting calls have asked for.
class Inflows {
 public:
  using Stream = VnodeBundle::Inbound;
  /// One flow: the receiving vnode, then the source.
  using Key = std::pair<VnodeId, VnodeId>;
  /// Whether a flow is one of those that a call waits for.
  struct Wanted {
    std::optional<VnodeId> at;
    std::optional<VnodeId> from;
    const VnodeSet* held = nullptr;  ///< If not null, only these receive.
    [[nodiscard]] bool matches(const Key& key) const {
      return (!at || *at == key.first) && (!from || *from == key.second) &&
             (held == nullptr || held->contains(key.first));
    }
  };

  /// `lowest_first`: beyond the room there is the flow with the lowest key goes on. Without it, the
  /// first one that needs to.
  explicit Inflows(const InflowOptions& options, bool lowest_first = false);

  // Inputs. `waiting`: bytes of all messages that wait in this process.
  void on_time(Instant now) { now_ = now; }
  /// Whether a piece of so many bytes may come in. If not it will be asked for again.
  [[nodiscard]] bool admits(const Key& key, std::uint64_t bytes, std::uint64_t waiting);
  /// A piece of this weight was the next of its stream. `untaken`: bytes of the message that it
  /// completes.
  void on_piece(const Key& key, Stream& stream, std::uint64_t weight, std::uint64_t untaken);
  /// The program has taken a message of so many bytes.
  void on_taken(const Key& key, Stream& stream, std::uint64_t bytes);
  void on_question(const Key& key, Stream& stream, const FlowQuestion& question);
  /// A vnode came with this stream, and so many bytes of its messages wait. A vnode goes.
  void add(const Key& key, const Stream& stream, std::uint64_t bytes);
  void remove(VnodeId to, const StreamTable<Stream>::Active& streams);
  /// Nothing may come of this flow: it is neither refused nor the one that may go on beyond the
  /// room there is. Whether it was refused.
  bool forget(const Key& key);
  /// Brings a quiet flow to rest, unless something of it waits or it waits for something.
  [[nodiscard]] bool rest(const Key& key, Stream& stream);

  // Commands.
  /// Flows that were refused, for which there is room now: to be granted.
  [[nodiscard]] std::vector<Key> take_reopened(std::uint64_t waiting);
  /// Flows that can go no further by themselves and may bring what a call waits for.
  [[nodiscard]] std::vector<Key> take_wanted(const Wanted& wanted);
  /// More credit for a flow that was refused, or is wanted.
  void grant(const Key& key, Stream& stream);
  /// No call waits any more.
  void forget_wanted() {
    wanted_.clear();
    is_full_ = false;
  }
  /// Whether something that a call waits for was refused since the last call of this.
  [[nodiscard]] bool take_is_full() { return std::exchange(is_full_, false); }
  /// The program takes nothing any more: tells the source.
  void close(const Key& key);
  [[nodiscard]] std::vector<FlowCredit> take_credits() { return std::exchange(credits_, {}); }

  // Queries.
  [[nodiscard]] bool has_credits() const { return !credits_.empty(); }
  /// Something was refused, or goes on beyond the room there is: else take_reopened() is idle.
  [[nodiscard]] bool is_held_up() const { return assembling_ || !refused_.empty(); }
  [[nodiscard]] const InflowOptions& options() const { return options_; }
  [[nodiscard]] std::uint64_t refusals() const { return refusals_; }
  [[nodiscard]] bool is_refused(const Key& key) const { return is_refused_.contains(key); }

 private:
  struct Flow {
    std::uint64_t untaken = 0;  ///< Bytes of its complete messages that wait.
    WindowTuner tuner;
  };

  [[nodiscard]] std::uint64_t limit(const Stream& stream) const;
  [[nodiscard]] std::uint64_t window(const Stream& stream) const;
  void consider(const Key& key, Stream& stream, Flow& flow);
  void take_refused(std::deque<Key>::iterator at, std::vector<Key>& out);
  void pass_on(const Key& key) {
    if (assembling_ == key) assembling_.reset();
  }
  [[nodiscard]] bool goes_before(const Key& key) const {
    return !assembling_ || (lowest_first_ && key < *assembling_);
  }
  void credit(const Key& key, const Stream& stream, bool again);

  InflowOptions options_;
  Instant now_{};
  std::map<Key, Flow> flows_;
  std::set<Key> stalled_;  ///< All credit is used up.
  bool lowest_first_;
  std::deque<Key> refused_;        ///< In the order of the refusals, each once.
  std::set<Key> is_refused_;       ///< The same.
  std::set<Key> wanted_;           ///< Granted beyond the room there is, for a waiting call.
  std::optional<Key> assembling_;  ///< The one flow that goes on beyond the room there is.
  bool is_full_ = false;
  std::vector<FlowCredit> credits_;
  std::uint64_t refusals_ = 0;
};

}  // namespace phx::runtime
