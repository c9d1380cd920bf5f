#include "runtime/endpoint/cast_inflows.h"

#include <algorithm>
#include <variant>

namespace phx::runtime {
namespace {

InflowOptions cast_options(InflowOptions options) {
  options.window_max = std::min(options.window_max, options.cast_window_max);
  options.window_free = options.window_max;
  return options;
}

}  // namespace

CastInflows::CastInflows(const InflowOptions& options)
    : options_(options), flows_(cast_options(options), true) {}

bool CastInflows::admits(const collectives::BroadcastPiece& piece, bool is_next,
                         const Load& waiting) {
  const std::uint64_t size = piece.payload.size();
  // What comes ahead of something may fill half of the room: so that there is some for the missing.
  // Of a message that is longer than that each piece that overtakes another one would be missing.
  const std::uint64_t others = waiting.all - std::min(waiting.all, waiting.begun);
  if (!is_next && !is_refused(piece.root) && others + size > options_.inbox_bytes / 2) {
    std::optional<std::uint64_t>& missed = roots_[piece.root].missed;
    missed = std::min(missed.value_or(piece.number), piece.number);
    return false;
  }
  return flows_.admits(key(piece.root), size, waiting.all);
}

void CastInflows::on_piece(VnodeId id, Stream& stream, std::uint64_t untaken) {
  Root& root = roots_[id];
  if (stream.asked != 0 && stream.next >= stream.asked) {
    stream.asked = 0;
    announce(id);
  }
  const std::uint64_t before = root.stream.offset;
  const std::uint64_t weight = stream.offset > before ? stream.offset - before : 0;
  root.stream.next = std::max(root.stream.next, stream.next);
  flows_.on_piece(key(id), root.stream, weight, untaken);
  // What the program does not see it never takes.
  const bool is_through = stream.begun.empty() && stream.early.empty();
  if (is_through && untaken == 0) flows_.on_taken(key(id), root.stream, 0);
  if (root.missed && stream.next >= *root.missed) {
    root.missed.reset();
    announced_[id] = true;
  }
}

void CastInflows::on_taken(VnodeId id, std::uint64_t bytes) {
  if (bytes > 0) flows_.on_taken(key(id), roots_[id].stream, bytes);
}

void CastInflows::add(VnodeId id, Stream& stream, std::uint64_t untaken) {
  const auto [at, is_new] = roots_.try_emplace(id);
  Root& root = at->second;
  if (is_new) {
    root.stream.next = stream.next;
    root.stream.offset = stream.offset;
    root.stream.limit = stream.limit;
    root.stream.window = stream.window;
    flows_.add(key(id), root.stream, untaken);
    // The root does not know that this holds for the other vnodes here as well.
    if (root.stream.limit > options_.unasked_bytes) announce(id);
    return;
  }
  // What its former process granted, or this one, holds for all vnodes here.
  if (limit(id) != std::max(stream.limit, options_.unasked_bytes)) announce(id);
  root.stream.window = std::max(root.stream.window, stream.window);
  root.stream.limit = std::max(root.stream.limit, stream.limit);
  on_piece(id, stream, untaken);
}

bool CastInflows::remove(VnodeId id, Stream& stream) {
  // Perhaps only this one misses what was refused. Else it comes again, and is refused again.
  const bool was_refused = flows_.forget(key(id));
  if (was_refused) announced_[id] = true;
  const auto found = roots_.find(id);
  if (found == roots_.end()) return was_refused;  // perhaps nothing has come in yet
  stream.limit = found->second.stream.limit;
  stream.window = found->second.stream.window;
  return was_refused || found->second.missed.has_value();
}

void CastInflows::add_pieces(VnodeId root, const Stream& stream) {
  std::uint64_t number = stream.next - stream.begun.size();
  for (const Payload& payload : stream.begun) pieces_.add({root, false, number++}, payload.size());
  for (const auto& [ahead, early] : stream.early) {
    pieces_.add({root, false, ahead}, std::get<BroadcastDelivery>(early).piece.payload.size());
  }
}

void CastInflows::remove_pieces(VnodeId root, const Stream& stream) {
  const std::uint64_t first = stream.next - stream.begun.size();
  for (std::uint64_t n = first; n < stream.next; ++n) pieces_.remove({root, false, n});
  for (const auto& [ahead, early] : stream.early) pieces_.remove({root, false, ahead});
}

void CastInflows::grant(const std::vector<Inflows::Key>& keys) {
  for (const Inflows::Key& key : keys) flows_.grant(key, roots_[key.second].stream);
}

void CastInflows::reopen(std::uint64_t waiting) {
  if (flows_.is_held_up()) grant(flows_.take_reopened(waiting));
}

bool CastInflows::want(std::optional<VnodeId> from) {
  grant(flows_.take_wanted({{}, from, nullptr}));
  return !flows_.take_is_full();
}

std::map<VnodeId, CastInflows::Announcement> CastInflows::take_announcements() {
  for (const FlowCredit& credit : flows_.take_credits()) {
    bool& again = announced_[credit.from];
    again = again || credit.again.has_value();
  }
  std::map<VnodeId, Announcement> announcements;
  for (const auto& [id, again] : announced_) {
    announcements[id] = {limit(id), again};
  }
  announced_.clear();
  return announcements;
}

std::uint64_t CastInflows::limit(VnodeId id) const {
  const auto found = roots_.find(id);
  const std::uint64_t granted = found == roots_.end() ? 0 : found->second.stream.limit;
  return std::max(granted, options_.unasked_bytes);
}

std::uint64_t CastInflows::next(VnodeId id) const {
  const auto found = roots_.find(id);
  return found == roots_.end() ? 0 : found->second.stream.next;
}

std::vector<VnodeId> CastInflows::held_up() const {
  std::vector<VnodeId> roots;
  for (const auto& [id, root] : roots_) {
    if (root.stream.offset >= limit(id) || is_refused(id) || root.missed) roots.push_back(id);
  }
  return roots;
}

}  // namespace phx::runtime
