#include "runtime/endpoint/cast_outflows.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/endpoint/endpoint_parts.h"

namespace phx::runtime {
namespace {

using collectives::BroadcastPiece;
using collectives::Purpose;

/// `left`: the pieces below have left. All below `end` will.
AppBroadcast question_of(VnodeId root, std::uint64_t left, std::uint64_t end, bool is_lost,
                         VnodeSet to) {
  BroadcastPiece piece;
  piece.root = root;
  piece.number = left;
  piece.tag = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(end - left, std::numeric_limits<std::uint32_t>::max()));
  piece.purpose = is_lost ? Purpose::kRepair : Purpose::kQuestion;
  return {std::move(piece), std::move(to), false};
}

}  // namespace

// --- Ranges of vnodes ----------------------------------------------------------------------------

VnodeId CastOutflows::last_of(const States& states, States::const_iterator at) const {
  const auto next = std::next(at);
  return VnodeId{(next == states.end() ? total_ : next->first.value) - 1};
}

/// The vnodes of whose state `is_wanted` holds.
template <class Select>
VnodeSet CastOutflows::select(const Root& root, Select is_wanted) const {
  VnodeSet vnodes;
  for (auto at = root.states.begin(); at != root.states.end(); ++at) {
    if (is_wanted(at->second)) {
      vnodes.insert(VnodeSet::Range{at->first, last_of(root.states, at)});
    }
  }
  return vnodes;
}

/// Applies `change` to the states of these vnodes, and joins neighbours that are equal then.
template <class Change>
void CastOutflows::change(Root& root, const VnodeSet& vnodes, Change change) {
  States& states = root.states;
  const auto split = [&](std::uint64_t first) {
    const VnodeId id{first};
    if (first >= total_) return states.end();
    const auto at = std::prev(states.upper_bound(id));
    return at->first == id ? at : states.emplace_hint(std::next(at), id, at->second);
  };
  for (const VnodeSet::Range& range : vnodes.ranges()) {
    if (range.first.value >= total_) break;
    auto at = split(range.first.value);
    const auto end = split(range.last.value + 1);
    for (auto each = at; each != end; ++each) change(each->second);
    if (at != states.begin()) --at;
    const VnodeId behind{range.last.value + 1};
    for (auto next = std::next(at); next != states.end() && next->first <= behind;) {
      if (next->second == at->second) {
        next = states.erase(next);
      } else {
        at = next++;
      }
    }
  }
}

// --- Numbers and offsets -------------------------------------------------------------------------

std::uint64_t CastOutflows::limit(const State& state) const {
  return std::max(state.limit, unasked_bytes_);
}

/// REQUIRES a piece that is kept, or the next one.
std::uint64_t CastOutflows::offset_of(const Root& root, std::uint64_t number) {
  if (number == root.next) return root.end;
  return root.kept[static_cast<std::size_t>(number - root.first())].offset;
}

CastOutflows::Pace CastOutflows::pace(const Root& root) const {
  Pace pace;
  pace.vnodes = select(root, [](const State& state) { return state.is_in_step(); });
  std::map<std::uint64_t, std::uint64_t, std::greater<>> counts;  // of vnodes, by limit
  for (auto at = root.states.begin(); at != root.states.end(); ++at) {
    if (!at->second.is_in_step()) continue;
    counts[limit(at->second)] += last_of(root.states, at).value - at->first.value + 1;
  }
  std::uint64_t far = 0;
  for (const auto& [limit, count] : counts) {
    if (2 * far < pace.vnodes.size()) pace.median = limit;
    far += count;
    pace.slowest = limit;
  }
  return pace;
}

// --- What leaves ---------------------------------------------------------------------------------

void CastOutflows::emit(VnodeId id, Root& root, Copies& out) {
  const bool is_anybody_left = std::any_of(root.states.begin(), root.states.end(),
                                           [](const auto& one) { return one.second.is_open(); });
  if (!is_anybody_left) {
    root.sent = root.next;
    forget_received(root);
    return;
  }
  serve_apart(root, out);
  serve_in_step(root, out);
  ask_held_up(id, root, out);
}

/// Those out of step, as far as their own credit goes; who has caught up is in step again.
void CastOutflows::serve_apart(Root& root, Copies& out) {
  std::uint64_t farthest = 0;
  bool is_anybody_in_step = false;
  for (const auto& [first, state] : root.states) {
    is_anybody_in_step = is_anybody_in_step || state.is_in_step();
    if (state.is_open() && state.position) farthest = std::max(farthest, *state.position);
  }
  // If all are behind, those that are least so are the ones in step.
  if (!is_anybody_in_step) root.sent = farthest;
  const auto may_go_on = [&](const State& state) {
    return state.is_open() && state.position && *state.position < root.sent &&
           offset_of(root, *state.position) < limit(state);
  };
  while (true) {
    std::optional<std::uint64_t> lowest;
    for (const auto& [first, state] : root.states) {
      if (may_go_on(state)) lowest = std::min(lowest.value_or(*state.position), *state.position);
    }
    if (!lowest) break;
    VnodeSet to = select(
        root, [&](const State& state) { return may_go_on(state) && *state.position == *lowest; });
    change(root, to, [](State& state) { ++*state.position; });
    const auto index = static_cast<std::size_t>(*lowest - root.first());
    out.push_back(AppBroadcast{root.kept[index].piece, std::move(to), true});
  }
  const VnodeSet through = select(root, [&](const State& s) { return s.position == root.sent; });
  change(root, through, [](State& state) { state.position.reset(); });
}

/// Half of the vnodes in step set the pace. Who falls behind it by more than the slack is put out
/// of step.
void CastOutflows::serve_in_step(Root& root, Copies& out) {
  if (root.sent == root.next) return;
  Pace pace = this->pace(root);
  while (root.sent < root.next) {
    const std::uint64_t offset = offset_of(root, root.sent);
    if (offset >= pace.median) return;
    if (offset >= pace.slowest + slack_bytes_) {
      const VnodeSet slow = select(root, [&](const State& state) {
        return state.is_in_step() && offset >= limit(state) + slack_bytes_;
      });
      change(root, slow, [&](State& state) { state.position = root.sent; });
      pace = this->pace(root);
      continue;
    }
    const auto index = static_cast<std::size_t>(root.sent - root.first());
    out.push_back(AppBroadcast{root.kept[index].piece, pace.vnodes, false});
    ++root.sent;
  }
}

/// Nothing is on its way to these, and they have no credit for what comes next: it may be lost.
void CastOutflows::ask_held_up(VnodeId id, Root& root, Copies& out) {
  const VnodeSet held_up = select(root, [&](const State& state) {
    const std::uint64_t at = state.position.value_or(root.sent);
    return state.is_open() && !state.was_asked && state.received == at && at < root.next &&
           offset_of(root, at) >= limit(state);
  });
  if (held_up.empty()) return;
  change(root, held_up, [](State& state) { state.was_asked = true; });
  out.push_back(question_of(id, root.sent, root.sent, false, held_up));
}

void CastOutflows::forget_received(Root& root) {
  std::uint64_t received = root.sent;
  for (const auto& [first, state] : root.states) received = std::min(received, state.received);
  while (!root.kept.empty() && root.first() < received) {
    kept_bytes_ -= flow_weight(root.kept.front().piece);
    root.kept.pop_front();
  }
}

std::uint64_t CastOutflows::kept_bytes(VnodeId root) const {
  const auto found = roots_.find(root);
  if (found == roots_.end() || found->second.kept.empty()) return 0;
  return found->second.end - found->second.kept.front().offset;
}

// --- Inputs and commands -------------------------------------------------------------------------

void CastOutflows::push(BroadcastPiece piece, Copies& out) {
  const VnodeId id = piece.root;
  Root& root = roots_[id];
  if (root.states.empty()) root.states.emplace(VnodeId{0}, State{});
  const std::uint64_t weight = flow_weight(piece);
  piece.number = root.next++;
  root.kept.push_back({std::move(piece), root.end});
  root.end += weight;
  kept_bytes_ += weight;
  emit(id, root, out);
}

void CastOutflows::on_credit(const CastCredit& credit, Copies& out) {
  const auto found = roots_.find(credit.root);
  if (found == roots_.end()) return;
  Root& root = found->second;
  if (root.states.empty()) return;
  change(root, credit.vnodes, [&](State& state) {
    if (!state.is_open()) return;
    if (credit.received == kFlowClosed) {
      state = {kFlowClosed, 0};
      return;
    }
    // What has not left here cannot have arrived, whatever a peer says.
    const std::uint64_t at = state.position.value_or(root.sent);
    state.received = std::max(state.received, std::min(credit.received, at));
    if (credit.limit > state.limit) {
      state.limit = credit.limit;
      state.was_asked = false;
    }
    if (!credit.again) return;
    const std::uint64_t again = std::max(*credit.again, state.received);
    if (again < at) state.position = again;
  });
  forget_received(root);
  emit(credit.root, root, out);
}

void CastOutflows::add(VnodeId id, Casting casting) {
  if (casting.next == 0) return;
  Root& root = roots_[id];
  root.next = casting.next;
  root.sent = casting.sent;
  root.end = casting.offset;
  for (BroadcastPiece& piece : casting.kept) {
    const std::uint64_t weight = flow_weight(piece);
    root.kept.push_back({std::move(piece), root.end});
    root.end += weight;
    kept_bytes_ += weight;
  }
  State unheard;
  unheard.received = root.first();
  root.states.emplace(VnodeId{0}, unheard);
  for (const Casting::Receivers& group : casting.receivers) {
    change(root, VnodeSet::range(group.first, group.last), [&](State& state) {
      state = {group.received, group.limit, group.position};
    });
  }
}

CastOutflows::Casting CastOutflows::remove(VnodeId id) {
  Casting casting;
  const auto found = roots_.extract(id);
  if (found.empty()) return casting;
  Root& root = found.mapped();
  casting.next = root.next;
  casting.sent = root.sent;
  casting.offset = offset_of(root, root.first());
  for (Kept& kept : root.kept) {
    kept_bytes_ -= flow_weight(kept.piece);
    casting.kept.push_back(std::move(kept.piece));
  }
  for (auto at = root.states.begin(); at != root.states.end(); ++at) {
    const auto& [received, limit, position, was_asked] = at->second;
    casting.receivers.push_back({at->first, last_of(root.states, at), received, limit, position});
  }
  return casting;
}

void CastOutflows::ask(const VnodeSet& roots, const Asking& how, Copies& out) {
  for (auto& [id, root] : roots_) {
    if (!roots.contains(id) || root.kept.empty()) continue;
    if (root.end - offset_of(root, root.first()) <= how.least.cast_bytes) continue;
    if (how.once && !is_worth_asking(root.first(), root.asked, root.next)) continue;
    root.asked = root.next;
    // By position: who has all that left for it misses nothing.
    std::map<std::uint64_t, VnodeSet> asked;
    for (auto at = root.states.begin(); at != root.states.end(); ++at) {
      const State& state = at->second;
      if (!state.is_open() || state.received == root.next) continue;
      asked[state.position.value_or(root.sent)].insert(
          VnodeSet::Range{at->first, last_of(root.states, at)});
    }
    for (auto& [number, vnodes] : asked) {
      out.push_back(question_of(id, number, root.next, how.is_lost, std::move(vnodes)));
    }
  }
}

// --- Queries -------------------------------------------------------------------------------------

std::uint64_t CastOutflows::waiting_bytes(VnodeId id) const {
  const auto found = roots_.find(id);
  if (found == roots_.end()) return 0;
  const Root& root = found->second;
  return root.end - offset_of(root, root.sent);
}

VnodeSet CastOutflows::out_of_step(VnodeId id) const {
  const auto found = roots_.find(id);
  if (found == roots_.end()) return {};
  return select(found->second,
                [](const State& state) { return state.is_open() && state.position; });
}

std::string CastOutflows::slowest() const {
  std::uint64_t most = 0;
  std::string text;
  for (const auto& [id, root] : roots_) {
    const std::uint64_t bytes = root.end - offset_of(root, root.first());
    if (bytes <= most) continue;
    most = bytes;
    const auto slow =
        std::min_element(root.states.begin(), root.states.end(),
                         [](const States::value_type& a, const States::value_type& b) {
                           return a.second.received < b.second.received;
                         });
    text = to_string(slow->first) + " has not taken " + spell_bytes(bytes) +
           " of broadcasts from " + to_string(id);
    const VnodeSet apart = out_of_step(id);
    if (!apart.empty()) text += ", which serves v" + to_string(apart) + " apart";
  }
  return text;
}

void CastOutflows::check_invariants() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, root] : roots_) {
    PHX_CHECK(root.first() <= root.sent && root.sent <= root.next);
    PHX_CHECK(!root.states.empty() && root.states.begin()->first == VnodeId{0});
    std::uint64_t offset = root.kept.empty() ? root.end : root.kept.front().offset;
    for (std::size_t i = 0; i < root.kept.size(); ++i) {
      PHX_CHECK(root.kept[i].piece.root == id && root.kept[i].piece.number == root.first() + i);
      PHX_CHECK(root.kept[i].offset == offset);
      offset += flow_weight(root.kept[i].piece);
      bytes += flow_weight(root.kept[i].piece);
    }
    PHX_CHECK(offset == root.end);
    for (const auto& [first, state] : root.states) {
      if (!state.is_open()) continue;
      const std::uint64_t at = state.position.value_or(root.sent);
      PHX_CHECK(root.first() <= state.received && state.received <= at && at <= root.sent);
    }
  }
  PHX_CHECK(bytes == kept_bytes_);
}

}  // namespace phx::runtime
