#include "collectives/accumulator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "collectives/reduce_op.h"

namespace phx::collectives {
namespace {

Error misfit(const VnodeSet& vnodes, const std::string& why) {
  return Error{ErrorCode::kBadInput,
               "the contribution of vnodes " + to_string(vnodes) + " does not fit: " + why};
}

std::string name_of(const ReductionKind& kind) {
  return std::string(to_string(kind.op)) + " of " + std::string(to_string(kind.type)) +
         (kind.to_all ? " to all" : "");
}

/// The union, if the parts are disjoint from `covered` and from each other.
std::optional<VnodeSet> disjoint_union(const VnodeSet& covered,
                                       const std::vector<ReductionPart>& parts) {
  VnodeSet all = covered;
  std::uint64_t count = covered.size();
  for (const ReductionPart& part : parts) {
    for (const auto& range : part.covered.ranges()) all.insert(range);
    count += part.covered.size();
  }
  if (count != all.size()) return std::nullopt;
  return all;
}

}  // namespace

Accumulator::Accumulator(const ReductionKind& kind, std::vector<ReductionPart> parts)
    : kind_(kind) {
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
      if (!wrong_) {
        wrong_ =
            misfit(part.covered, "it is for " + name_of(kind) + " instead of " + name_of(kind_));
      }
      // Without its value it fits no other one, also after the parts were moved elsewhere.
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

Accumulator::Added Accumulator::take(ReductionPart part) {
  const Status fits = check_value(kind_, part.value);
  if (!fits.ok() && !wrong_) wrong_ = misfit(part.covered, fits.error().what);
  const bool bundled = kind_.op == ReduceOp::kUser || !fits.ok();
  const auto same_size = [&part](const Part& held) {
    return held.value.size() == part.value.size();
  };
  const auto at = bundled ? parts_.end() : std::find_if(parts_.begin(), parts_.end(), same_size);
  if (at != parts_.end()) {
    combine(*at, part.value);
    for (const auto& range : part.covered.ranges()) at->covered.insert(range);
    return Added::kTaken;
  }
  const bool alone = parts_.empty() || kind_.op == ReduceOp::kUser;
  if (fits.ok() && !alone && !wrong_) {
    wrong_ =
        misfit(part.covered, "it has " + std::to_string(part.value.size()) +
                                 " bytes, that of vnodes " + to_string(parts_.front().covered) +
                                 " has " + std::to_string(parts_.front().value.size()));
  }
  bytes_ += part.value.size();
  parts_.push_back({std::move(part.covered), std::move(part.value)});
  return fits.ok() && alone ? Added::kTaken : Added::kUnfit;
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

Result<Payload> Accumulator::value(const Fold& fold) const {
  if (wrong_) return *wrong_;
  if (parts_.empty()) return Error{ErrorCode::kBadInput, "nothing was contributed"};
  if (kind_.op == ReduceOp::kUser) return folded(fold);
  PHX_CHECK(parts_.size() == 1);
  return parts_.front().value;
}

Result<Payload> Accumulator::folded(const Fold& fold) const {
  if (!fold) return Error{ErrorCode::kBadInput, "the target did not name the operator"};
  std::optional<Payload> result;
  for (const ReductionPart& part : parts()) {
    if (part.covered.size() != 1) return misfit(part.covered, "it is already combined");
    result = result ? fold(*result, part.value) : part.value;
  }
  return *std::move(result);
}

}  // namespace phx::collectives
