#include "collectives/accumulator.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "collectives/reduce_op.h"

namespace phx::collectives {
namespace {

std::string misfit_of(const VnodeSet& vnodes, const std::string& why) {
  return "the contribution of vnodes " + to_string(vnodes) + " does not fit: " + why;
}

std::string other_size(const VnodeSet& some, std::uint64_t bytes, const VnodeSet& others,
                       std::uint64_t other_bytes) {
  return misfit_of(some, "it has " + std::to_string(bytes) + " bytes, that of vnodes " +
                             to_string(others) + " has " + std::to_string(other_bytes));
}

std::string other_size(const ReductionPart& part, const VnodeSet& others, const Payload& value) {
  return other_size(part.covered, part.value.size(), others, value.size());
}

std::string name_of(const ReductionKind& kind) {
  std::string name = (kind.ordered ? "ordered " : "") + std::string(to_string(kind.op));
  if (!is_bundled(kind.op)) name += " of " + std::string(to_string(kind.type));
  if (kind.to_all) name += " to all";
  if (kind == kBarrier) name += " (as in a barrier)";
  if (kind == kSafePoint) name += " (as at a safe point)";
  return name;
}

/// Whether the order of combination matters and is kept.
bool is_ordered(const ReductionKind& kind) {
  const bool is_floating = kind.type == ReduceType::kFloat || kind.type == ReduceType::kDouble;
  return kind.ordered && is_floating && !is_bundled(kind.op);
}

/// 2^k vnodes, from a multiple of 2^k on.
bool is_block(const VnodeSet& vnodes) {
  if (vnodes.ranges().size() != 1) return false;
  const std::uint64_t size = vnodes.size();
  return std::has_single_bit(size) && vnodes.front().value % size == 0;
}

/// Of blocks, the lower one first.
bool are_halves(const VnodeSet& low, const VnodeSet& high) {
  const std::uint64_t size = low.size();
  return high.size() == size && low.front().value % (2 * size) == 0 &&
         high.front().value == low.front().value + size;
}

/// The union, if the parts are disjoint from `covered` and from each other.
std::optional<VnodeSet> disjoint_union(const VnodeSet& covered,
                                       const std::vector<ReductionPart>& parts) {
  VnodeSet all = covered;
  std::uint64_t count = covered.size();
  for (const ReductionPart& part : parts) {
    all = all.united(part.covered);
    count += part.covered.size();
  }
  if (count != all.size()) return std::nullopt;
  return all;
}

}  // namespace

Accumulator::Accumulator(const ReductionKind& kind, std::vector<ReductionPart> parts,
                         const std::string& misfit)
    : kind_(kind), misfit_(misfit) {
  for (ReductionPart& part : parts) {
    std::vector<ReductionPart> one;
    one.push_back(std::move(part));
    add(kind, std::move(one));
  }
}

Accumulator::Added Accumulator::add(const ReductionKind& kind, std::vector<ReductionPart>&& parts) {
  std::optional<VnodeSet> all = disjoint_union(covered_, parts);
  if (!all) return Added::kOverlap;
  covered_ = *std::move(all);
  if (kind != kind_) {
    for (ReductionPart& part : parts) {
      blame(other_kind(kind, part));
      parts_.push_back({std::move(part.covered), Payload{}});
    }
    return Added::kOtherKind;
  }
  Added added = Added::kTaken;
  for (ReductionPart& part : parts) {
    if (part.covered.empty()) continue;  // nobody's
    if (take(std::move(part)) == Added::kUnfit) added = Added::kUnfit;
  }
  return added;
}

void Accumulator::blame(const std::string& misfit) {
  if (misfit_.empty()) misfit_ = misfit;
}

std::string Accumulator::other_kind(const ReductionKind& kind, const ReductionPart& part) const {
  ReductionKind same = kind;
  same.whole_bytes = kind_.whole_bytes;
  if (same != kind_ || parts_.empty()) {
    return misfit_of(part.covered, "it is for " + name_of(kind) + " instead of " + name_of(kind_));
  }
  // Equal pieces of unequal values.
  const auto bytes = [](const ReductionKind& of, const Payload& piece) {
    return of.whole_bytes == 0 ? piece.size() : of.whole_bytes;
  };
  return other_size(part.covered, bytes(kind, part.value), parts_.front().covered,
                    bytes(kind_, parts_.front().value));
}

Accumulator::Added Accumulator::take(ReductionPart part) {
  const Status fits = check_value(kind_, part.value);
  if (!fits.ok()) blame(misfit_of(part.covered, fits.error().what));
  if (is_ordered(kind_)) return take_ordered(std::move(part), fits.ok());
  const bool bundled = is_bundled(kind_.op) || !fits.ok();
  const auto same_size = [&part](const Part& held) {
    return held.value.size() == part.value.size();
  };
  const auto at = bundled ? parts_.end() : std::find_if(parts_.begin(), parts_.end(), same_size);
  if (at != parts_.end()) {
    combine(*at, part.value);
    at->covered = at->covered.united(part.covered);
    return Added::kTaken;
  }
  const bool alone = parts_.empty() || is_bundled(kind_.op);
  if (fits.ok() && !alone) blame(other_size(part, parts_.front().covered, parts_.front().value));
  bytes_ += part.value.size();
  parts_.push_back({std::move(part.covered), std::move(part.value)});
  return fits.ok() && alone ? Added::kTaken : Added::kUnfit;
}

Accumulator::Added Accumulator::take_ordered(ReductionPart part, bool fits) {
  if (fits && !parts_.empty() && part.value.size() != parts_.front().value.size()) {
    blame(other_size(part, parts_.front().covered, parts_.front().value));
    fits = false;
  }
  if (fits && !is_block(part.covered)) {
    blame(misfit_of(part.covered, "it was combined in another order"));
    fits = false;
  }
  const auto after = std::upper_bound(
      parts_.begin(), parts_.end(), part.covered.front(),
      [](VnodeId first, const Part& held) { return first < held.covered.front(); });
  const auto at = static_cast<std::size_t>(after - parts_.begin());
  bytes_ += part.value.size();
  parts_.insert(after, {std::move(part.covered), std::move(part.value)});
  if (misfit_.empty()) join_halves(at);
  return fits ? Added::kTaken : Added::kUnfit;
}

/// Combines the part at this place with its other half, and so on, as long as both are here.
void Accumulator::join_halves(std::size_t at) {
  while (true) {
    const bool is_high = at > 0 && are_halves(parts_[at - 1].covered, parts_[at].covered);
    const std::size_t low = is_high ? at - 1 : at;
    const std::size_t high = low + 1;
    if (high >= parts_.size() || !are_halves(parts_[low].covered, parts_[high].covered)) return;
    combine(parts_[low], parts_[high].value);
    parts_[low].covered.insert(parts_[high].covered.ranges().front());
    bytes_ -= parts_[high].value.size();
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(high));
    at = low;
  }
}

/// In place, if nobody else has the memory. The first time the sum goes to fresh memory at once.
void Accumulator::combine(Part& held, const Payload& value) const {
  const std::size_t size = value.size();
  constexpr long kHolders = 2;  // `held.sum` and `held.value`
  const bool is_mine = held.sum && held.sum.use_count() == kHolders;
  std::shared_ptr<std::byte[]> to =
      is_mine ? held.sum : std::shared_ptr<std::byte[]>(new std::byte[size]);
  const Status combined =
      combine_to(kind_, std::span(to.get(), size), held.value.bytes(), value.bytes());
  PHX_CHECK(combined.ok());
  if (is_mine) return;
  held.value = Payload(to, std::span(to.get(), size));
  held.sum = std::move(to);
}

std::vector<ReductionPart> Accumulator::parts() const {
  Accumulator copy = *this;
  return copy.take_parts();
}

std::vector<ReductionPart> Accumulator::take_parts() {
  std::vector<ReductionPart> result;
  result.reserve(parts_.size());
  for (Part& part : parts_) {
    result.push_back({std::move(part.covered), std::move(part.value)});
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.covered < b.covered; });
  *this = Accumulator(kind_);
  return result;
}

Status Accumulator::fits() const {
  if (!misfit_.empty()) return Error{ErrorCode::kBadInput, misfit_};
  if (parts_.empty()) return Error{ErrorCode::kBadInput, "nothing was contributed"};
  return success();
}

Result<Payload> Accumulator::value() const {
  PHX_CHECK(!is_bundled(kind_.op));
  if (const Status status = fits(); !status.ok()) return status.error();
  if (is_ordered(kind_)) return joined();
  PHX_CHECK(parts_.size() == 1);
  return parts_.front().value;
}

Result<std::vector<ReductionPart>> Accumulator::take_values() {
  if (const Status status = fits(); !status.ok()) return status.error();
  std::vector<ReductionPart> parts = take_parts();
  for (const ReductionPart& part : parts) {
    if (part.covered.size() == 1) continue;
    return Error{ErrorCode::kBadInput, misfit_of(part.covered, "it is already combined")};
  }
  return parts;
}

/// Of the blocks of V vnodes, from left to right.
Payload Accumulator::joined() const {
  Part result = parts_.front();
  for (std::size_t i = 1; i < parts_.size(); ++i) combine(result, parts_[i].value);
  return result.value;
}

std::uint64_t Accumulator::longest() const {
  std::uint64_t most = 0;
  for (const Part& part : parts_) most = std::max<std::uint64_t>(most, part.value.size());
  return most;
}

}  // namespace phx::collectives
