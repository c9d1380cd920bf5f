#include "runtime/endpoint/cast_outflows.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/endpoint/endpoint_parts.h"

namespace phx::runtime {
namespace {

using collectives::BroadcastPiece;
using collectives::Purpose;

/// Whoever has lost something so often, along the same trees, and has not got on, goes alone: it is
/// behind a place where copies along trees are lost again and again. More than one, because a loss
/// is told in parts.
constexpr std::uint8_t kLossesMost = 4;

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

std::uint64_t CastOutflows::Root::offset_of(std::uint64_t number) const {
  if (number == next) return end;
  return kept[static_cast<std::size_t>(number - first())].offset;
}

CastOutflows::Root& CastOutflows::root_of(VnodeId id) {
  const auto known = roots_.find(id);
  if (known != roots_.end()) return known->second;
  const Root fresh(CastReceivers(total_, unasked_bytes_), Chase(slack_bytes_));
  return roots_.try_emplace(id, fresh).first->second;
}

// --- What leaves ---------------------------------------------------------------------------------

void CastOutflows::emit(VnodeId id, Root& root, Copies& out) {
  if (!root.receivers.any([](const CastReceiver& state) { return state.is_open(); })) {
    root.sent = root.next;
    forget_received(root);
    return;
  }
  if (root.receivers.are_in_step()) {
    root.regroups = false;
    root.chase.on_progress(now_, root.offset_of(root.sent), {});
  } else {
    group(root);
    serve_apart(root, out);
    serve_followers(root, out);
  }
  serve_in_step(root, out);
  ask_held_up(id, root, out);
}

/// Those that have fallen behind, and are at most a slack away from the middle one of all that are
/// out of step, go together.
void CastOutflows::group(Root& root) {
  CastReceivers& all = root.receivers;
  if (!std::exchange(root.regroups, false) && all.followed()) return;
  const auto middle = all.middle();
  if (!middle) return;
  const std::uint64_t at = root.offset_of(*middle);
  const VnodeSet behind =
      all.select([](const CastReceiver& state) { return state.is_open() && state.position; });
  all.change(behind, [&](CastReceiver& state) {
    const std::uint64_t offset = root.offset_of(*state.position);
    const bool is_near = offset <= at + slack_bytes_ && at <= offset + slack_bytes_;
    state.is_follower = is_near && state.losses < kLossesMost;
  });
}

/// As far as their own credit goes. Whoever has caught up goes with those who are there.
void CastOutflows::serve_apart(Root& root, Copies& out) {
  CastReceivers& all = root.receivers;
  // If all are behind, those that are least so are the ones in step.
  if (!all.any([](const CastReceiver& state) { return state.is_in_step(); })) {
    root.sent = 0;
    all.for_each([&](const CastReceivers::Range& range) {
      if (range.state.is_open()) root.sent = std::max(root.sent, *range.state.position);
    });
  }
  const auto followed = all.followed();
  const auto may_go_on = [&](const CastReceiver& state) {
    return state.is_apart() && *state.position < root.sent && state.position != followed &&
           root.offset_of(*state.position) < all.limit(state);
  };
  while (true) {
    std::optional<std::uint64_t> lowest;
    const VnodeSet ready = all.select([&](const CastReceiver& state) {
      if (!may_go_on(state)) return false;
      lowest = std::min(lowest.value_or(*state.position), *state.position);
      return true;
    });
    if (!lowest) break;
    VnodeSet to = all.select(
        [&](const CastReceiver& state) { return may_go_on(state) && *state.position == *lowest; });
    all.change(to, [](CastReceiver& state) { ++*state.position; });
    out.push_back(AppBroadcast{root.piece(*lowest), std::move(to), true});
  }
  const VnodeSet through =
      all.select([&](const CastReceiver& state) { return state.position == root.sent; });
  all.change(through, [](CastReceiver& state) { state.come_in_step(); });
  const VnodeSet reached = all.select(
      [&](const CastReceiver& state) { return state.is_apart() && state.position == followed; });
  all.change(reached, [](CastReceiver& state) { state.is_follower = true; });
}

/// Those who are farther wait for the others, and the fastest one sets the pace. Whoever falls
/// behind it by two slacks goes alone from then on: who was just put out of step is behind by one.
void CastOutflows::serve_followers(Root& root, Copies& out) {
  CastReceivers& all = root.receivers;
  const auto follows = [](const CastReceiver& state) { return state.follows(); };
  CastReceivers::Pace pace = all.pace(follows);
  for (auto at = all.followed(); at && *at < root.sent; at = all.followed()) {
    const std::uint64_t offset = root.offset_of(*at);
    if (offset >= pace.fastest) break;
    if (offset >= pace.slowest + 2 * slack_bytes_) {
      const VnodeSet slow = all.select([&](const CastReceiver& state) {
        return state.follows() && offset >= all.limit(state) + 2 * slack_bytes_;
      });
      all.change(slow, [](CastReceiver& state) { state.is_follower = false; });
      pace = all.pace(follows);
      continue;
    }
    VnodeSet to = all.select(
        [&](const CastReceiver& state) { return state.follows() && state.position == at; });
    all.change(to, [](CastReceiver& state) { ++*state.position; });
    const bool is_alone = to.size() == 1;
    out.push_back(AppBroadcast{root.piece(*at), std::move(to), is_alone});
  }
  if (all.followed() == root.sent) {
    all.change(pace.vnodes, [](CastReceiver& state) { state.come_in_step(); });
  }
  const std::uint64_t ahead = root.offset_of(root.sent);
  if (!all.followed()) return root.chase.on_progress(now_, ahead, {});
  const std::uint64_t received = std::max(pace.received, root.first());
  root.chase.on_progress(now_, ahead, root.offset_of(received));
}

/// Half of the vnodes in step set the pace. Who falls behind it by more than the slack is put out
/// of step, and gets again what it does not say that it has: most of that was dropped on its way.
void CastOutflows::serve_in_step(Root& root, Copies& out) {
  if (root.sent == root.next) return;
  CastReceivers& all = root.receivers;
  CastReceivers::Pace pace = all.pace_in_step();
  while (root.sent < root.next) {
    const std::uint64_t offset = root.offset_of(root.sent);
    if (offset >= pace.median || !root.chase.allows(offset)) return;
    if (offset >= pace.slowest + slack_bytes_) {
      const VnodeSet slow = all.select([&](const CastReceiver& state) {
        return state.is_in_step() && offset >= all.limit(state) + slack_bytes_;
      });
      all.change(slow, [](CastReceiver& state) { state.position = state.received; });
      root.regroups = true;
      if (slow.size() > 1 && std::exchange(root.was_redrawn, false)) root.chase.on_hope();
      pace = all.pace_in_step();
      continue;
    }
    out.push_back(AppBroadcast{root.piece(root.sent), pace.vnodes, false});
    ++root.sent;
  }
}

/// Nothing is on its way to these, and they have no credit for what comes next: it may be lost.
void CastOutflows::ask_held_up(VnodeId id, Root& root, Copies& out) {
  if (root.receivers.are_in_step()) {
    if (root.sent == root.next) return;
    const CastReceivers::Progress& in_step = root.receivers.in_step();
    const bool is_moving = in_step.received.highest() < root.sent ||
                           in_step.limits.lowest() > root.offset_of(root.sent);
    if (is_moving) return;
  }
  const VnodeSet held_up = root.receivers.select([&](const CastReceiver& state) {
    const std::uint64_t at = state.position.value_or(root.sent);
    return state.is_open() && !state.was_asked && state.received == at && at < root.next &&
           root.offset_of(at) >= root.receivers.limit(state);
  });
  if (held_up.empty()) return;
  root.receivers.change(held_up, [](CastReceiver& state) { state.was_asked = true; });
  out.push_back(question_of(id, root.sent, root.sent, false, held_up));
}

void CastOutflows::forget_received(Root& root) {
  if (root.kept.empty()) return;
  const std::uint64_t received = std::min(root.sent, root.receivers.received_by_all());
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

void CastOutflows::on_time(Instant now, Copies& out) {
  now_ = now;
  for (auto& [id, root] : roots_) {
    if (root.chase.is_on()) emit(id, root, out);
  }
}

void CastOutflows::push(BroadcastPiece piece, Copies& out) {
  const VnodeId id = piece.root;
  Root& root = root_of(id);
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
  root.receivers.change(credit.vnodes, [&](CastReceiver& state) {
    if (!state.is_open()) return;
    if (credit.received == kFlowClosed) {
      state = {.received = kFlowClosed};
      return;
    }
    // What has not left here cannot have arrived, whatever a peer says. What left before it was
    // put out of step may have.
    const std::uint64_t received = std::max(state.received, std::min(credit.received, root.sent));
    if (std::exchange(state.received, received) < received) state.losses = 0;
    if (state.position) state.position = std::max(*state.position, state.received);
    if (credit.limit > state.limit) {
      state.limit = credit.limit;
      state.was_asked = false;
    }
    const bool has_come = credit.until && state.received >= *credit.until;
    if (!credit.again || has_come) return;
    const std::uint64_t again = std::max(*credit.again, state.received);
    if (again >= state.position.value_or(root.sent)) return;
    state.position = again;
    if (state.losses < kLossesMost) ++state.losses;
    state.is_follower = state.is_follower && state.losses < kLossesMost;
    root.regroups = true;
  });
  forget_received(root);
  emit(credit.root, root, out);
}

/// What left for followers along the former trees comes once more, along the present ones. So it
/// does for those for whom much more has left than they had room for; in step it has to be very
/// much, since half of them may be somewhat slower than the others.
void CastOutflows::on_redrawn(Copies& out) {
  for (auto& [id, root] : roots_) {
    root.was_redrawn = true;
    const bool along_trees = root.receivers.pace(&CastReceiver::follows).vnodes.size() > 1;
    const auto is_beyond = [&, &root = root](const CastReceiver& state) {
      if (state.follows() && along_trees) return true;
      const std::uint64_t more = state.position ? unasked_bytes_ : slack_bytes_ / 2;
      const std::uint64_t left = root.offset_of(state.position.value_or(root.sent));
      return left > root.receivers.limit(state) + more;
    };
    const VnodeSet behind = root.receivers.select([&](const CastReceiver& state) {
      return state.is_open() && (state.position || is_beyond(state));
    });
    if (behind.empty()) continue;
    // One alone is slow itself, as a rule; several were behind it, and are not any more.
    if (behind.size() > 1) root.chase.on_hope();
    root.receivers.change(behind, [&](CastReceiver& state) {
      if (is_beyond(state)) state.position = state.received;
      state.losses = 0;
    });
    root.regroups = true;
    emit(id, root, out);
  }
}

void CastOutflows::add(VnodeId id, Casting casting) {
  if (casting.next == 0) return;
  const std::uint64_t first = casting.next - casting.kept.size();
  Root& root = roots_
                   .insert_or_assign(
                       id, Root(CastReceivers(total_, unasked_bytes_, first), Chase(slack_bytes_)))
                   .first->second;
  root.next = casting.next;
  root.sent = casting.sent;
  root.end = casting.offset;
  root.regroups = true;
  for (BroadcastPiece& piece : casting.kept) {
    const std::uint64_t weight = flow_weight(piece);
    root.kept.push_back({std::move(piece), root.end});
    root.end += weight;
    kept_bytes_ += weight;
  }
  for (const Casting::Receivers& group : casting.receivers) {
    root.receivers.change(VnodeSet::range(group.first, group.last), [&](CastReceiver& state) {
      state = {.received = group.received, .limit = group.limit, .position = group.position};
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
  casting.offset = root.offset_of(root.first());
  for (Kept& kept : root.kept) {
    kept_bytes_ -= flow_weight(kept.piece);
    casting.kept.push_back(std::move(kept.piece));
  }
  root.receivers.for_each([&](const CastReceivers::Range& range) {
    const CastReceiver& state = range.state;
    casting.receivers.push_back(
        {range.vnodes.first, range.vnodes.last, state.received, state.limit, state.position});
  });
  return casting;
}

void CastOutflows::ask(const VnodeSet& roots, const Asking& how, Copies& out) {
  for (auto& [id, root] : roots_) {
    if (!roots.contains(id) || root.kept.empty()) continue;
    if (root.end - root.offset_of(root.first()) <= how.least.cast_bytes) continue;
    if (how.once && !is_worth_asking(root.first(), root.asked, root.next)) continue;
    root.asked = root.next;
    // By position: who has all that left for it misses nothing.
    std::map<std::uint64_t, VnodeSet> asked;
    root.receivers.for_each([&, &root = root](const CastReceivers::Range& range) {
      const CastReceiver& state = range.state;
      if (!state.is_open() || state.received == root.next) return;
      asked[state.position.value_or(root.sent)].insert(range.vnodes);
    });
    for (auto& [number, vnodes] : asked) {
      out.push_back(question_of(id, number, root.next, how.is_lost, std::move(vnodes)));
    }
  }
}

// --- Queries -------------------------------------------------------------------------------------

std::uint64_t CastOutflows::waiting_bytes(VnodeId id) const {
  const auto found = roots_.find(id);
  if (found == roots_.end()) return 0;
  return found->second.end - found->second.offset_of(found->second.sent);
}

VnodeSet CastOutflows::out_of_step(VnodeId id) const {
  const auto found = roots_.find(id);
  if (found == roots_.end()) return {};
  return found->second.receivers.select(
      [](const CastReceiver& state) { return state.is_open() && state.position; });
}

bool CastOutflows::is_waiting() const {
  return std::any_of(roots_.begin(), roots_.end(),
                     [](const auto& root) { return root.second.chase.is_on(); });
}

std::string CastOutflows::slowest() const {
  std::uint64_t most = 0;
  std::string text;
  for (const auto& [id, root] : roots_) {
    const std::uint64_t bytes = root.end - root.offset_of(root.first());
    if (bytes <= most) continue;
    most = bytes;
    VnodeId slow;
    std::uint64_t least = kFlowClosed;
    root.receivers.for_each([&](const CastReceivers::Range& range) {
      if (range.state.received >= least) return;
      least = range.state.received;
      slow = range.vnodes.first;
    });
    text = to_string(slow) + " has not taken " + spell_bytes(bytes) + " of broadcasts from " +
           to_string(id);
    const VnodeSet apart = out_of_step(id);
    if (!apart.empty()) text += ", which serves v" + to_string(apart) + " apart";
  }
  return text;
}

void CastOutflows::check_invariants() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, root] : roots_) {
    PHX_CHECK(root.first() <= root.sent && root.sent <= root.next);
    std::uint64_t offset = root.kept.empty() ? root.end : root.kept.front().offset;
    for (std::size_t i = 0; i < root.kept.size(); ++i) {
      PHX_CHECK(root.kept[i].piece.root == id && root.kept[i].piece.number == root.first() + i);
      PHX_CHECK(root.kept[i].offset == offset);
      offset += flow_weight(root.kept[i].piece);
      bytes += flow_weight(root.kept[i].piece);
    }
    PHX_CHECK(offset == root.end);
    root.receivers.check_invariants();
    root.receivers.for_each([&root = root](const CastReceivers::Range& range) {
      const CastReceiver& state = range.state;
      if (!state.is_open()) return;
      const std::uint64_t at = state.position.value_or(root.sent);
      PHX_CHECK(root.first() <= state.received && state.received <= at && at <= root.sent);
      PHX_CHECK(!state.is_follower || state.position);
    });
  }
  PHX_CHECK(bytes == kept_bytes_);
}

}  // namespace phx::runtime
