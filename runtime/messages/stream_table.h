#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/check.h"
#include "overlay/base/ids.h"
#include "overlay/base/run_map.h"

namespace phx::runtime {

/// What is left of one end of a stream while nothing of it is on its way, kept, or waited for.
struct AtRest {
  std::uint64_t next = 0;  ///< Number of the next piece; kFlowClosed: the receiver wants none.
  // In weights of pieces; 0: as at the beginning.
  std::uint64_t offset = 0;
  std::uint64_t limit = 0;
  std::uint64_t window = 0;  ///< Of receiving ends only.
  friend bool operator==(const AtRest&, const AtRest&) = default;
};

/// The ends of one vnode's streams, by partner. Those at rest are numbers, and partners in a row
/// with equal numbers are one run: so a vnode that has spoken with everybody once remembers little.
/// `Stream` has `wake(AtRest)`, `at_rest()` and `is_quiet()`. Not thread-safe: one owner.
///
/// Guarantees: bringing streams to rest and back changes no number, and a partner that was known
/// stays so, also if nothing has come of it (it may have been refused). Whatever has to be done for
/// all that may wait for something concerns active ones alone.
template <class Stream>
class StreamTable {
 public:
  using Active = std::map<VnodeId, Stream>;
  using Resting = RunMap<VnodeId, AtRest>;

  StreamTable() = default;
  /// As read from a message: an active stream counts, not what rests under its name.
  StreamTable(Active active, Resting resting)
      : active_(std::move(active)), resting_(std::move(resting)) {
    crowd_ = std::max(kCrowd, 2 * active_.size());
  }

  /// The stream with `partner`, active from now on. Valid until the next rest().
  Stream& operator[](VnodeId partner);
  /// Number of its next piece, whether it is active or not.
  [[nodiscard]] std::uint64_t next(VnodeId partner) const;
  /// Null: there has never been one. Else active from now on.
  [[nodiscard]] Stream* find(VnodeId partner) {
    const bool is_known = active_.contains(partner) || resting_.find(partner) != nullptr;
    return is_known ? &(*this)[partner] : nullptr;
  }

  /// Whether so many are active that rest() comes before one more: twice as many as could not rest
  /// the last time. So it costs each no more than being there.
  [[nodiscard]] bool is_crowded() const { return active_.size() >= crowd_; }
  /// Brings those that are quiet to rest, if `may_rest(partner, stream)`.
  template <class MayRest>
  void rest(MayRest may_rest);
  void rest() {
    rest([](VnodeId, const Stream&) { return true; });
  }
  /// Makes all active.
  void wake_all();

  [[nodiscard]] const Active& active() const { return active_; }
  [[nodiscard]] Active& active() { return active_; }
  [[nodiscard]] const Resting& resting() const { return resting_; }
  [[nodiscard]] std::size_t resting_partners() const;
  [[nodiscard]] bool empty() const { return active_.empty() && resting_.empty(); }
  void check_invariants() const { PHX_CHECK(active_.size() <= crowd_); }
  friend bool operator==(const StreamTable& a, const StreamTable& b) {
    return a.active_ == b.active_ && a.resting_ == b.resting_;
  }

 private:
  static constexpr std::size_t kCrowd = 16;

  Active active_;
  /// Also of some that are active: what these were when they woke, which no longer counts.
  Resting resting_;
  std::size_t crowd_ = kCrowd;
};

template <class Stream>
Stream& StreamTable<Stream>::operator[](VnodeId partner) {
  const auto [at, is_new] = active_.try_emplace(partner);
  if (!is_new) return at->second;
  if (const AtRest* numbers = resting_.find(partner)) at->second.wake(*numbers);
  return at->second;
}

template <class Stream>
std::uint64_t StreamTable<Stream>::next(VnodeId partner) const {
  const auto at = active_.find(partner);
  if (at != active_.end()) return at->second.next;
  const AtRest* numbers = resting_.find(partner);
  return numbers == nullptr ? 0 : numbers->next;
}

template <class Stream>
template <class MayRest>
void StreamTable<Stream>::rest(MayRest may_rest) {
  typename Resting::Changes changes;
  for (auto at = active_.begin(); at != active_.end();) {
    auto& [partner, stream] = *at;
    std::optional<AtRest>& numbers = changes.emplace_back(partner, std::nullopt).second;
    if (!stream.is_quiet() || !may_rest(partner, stream)) {
      ++at;
      continue;
    }
    numbers = stream.at_rest();
    at = active_.erase(at);
  }
  resting_.put_all(changes);
  crowd_ = std::max(kCrowd, 2 * active_.size());
}

template <class Stream>
std::size_t StreamTable<Stream>::resting_partners() const {
  std::size_t partners = 0;
  for (const auto& run : resting_.runs()) partners += run.last.value - run.first.value + 1;
  return partners;
}

template <class Stream>
void StreamTable<Stream>::wake_all() {
  for (const auto& run : resting_.runs()) {
    for (VnodeId partner = run.first; partner <= run.last; ++partner.value) {
      static_cast<void>((*this)[partner]);
    }
  }
  resting_ = {};
}

}  // namespace phx::runtime
