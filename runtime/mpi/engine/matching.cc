#include "runtime/mpi/engine/matching.h"

#include <utility>

namespace phx::mpi {
namespace {

static_assert(MPI_ANY_TAG == Lane<int>::kAnyTag);

/// The first one is for receives from any source.
std::size_t lane_of(int source) {
  return source < 0 ? 0 : static_cast<std::size_t>(source) + 1;
}

}  // namespace

Matching::Messages::Item* Matching::find(Half& half, const Wanted& wanted) {
  if (wanted.source == MPI_ANY_SOURCE) return half.messages.find(wanted.tag, looks_);
  return half.messages.find(lane_of(wanted.source), wanted.tag, looks_);
}

const Arrived* Matching::look(const Wanted& wanted) {
  const auto half = halves_.find(wanted.context);
  if (half == halves_.end()) return nullptr;
  const Messages::Item* const found = find(half->second, wanted);
  return found == nullptr ? nullptr : &found->value;
}

std::optional<Arrived> Matching::take(const Wanted& wanted) {
  const auto half = halves_.find(wanted.context);
  if (half == halves_.end()) return std::nullopt;
  Messages::Item* const found = find(half->second, wanted);
  if (found == nullptr) return std::nullopt;
  return take_out(half->second, *found);
}

Arrived Matching::take_out(Half& half, Messages::Item& message) {
  Arrived taken = half.messages.take(message);
  bytes_ -= taken.bytes.size();
  return taken;
}

void Matching::post(Ref<ReceiveRequest> receive) {
  const Wanted& wanted = receive->wanted;
  halves_[wanted.context].receives.add(lane_of(wanted.source), wanted.tag, std::move(receive));
}

Ref<ReceiveRequest> Matching::take(const Head& head) {
  const auto half = halves_.find(head.context);
  if (half == halves_.end()) return {};
  auto& waiting = half->second.receives;
  auto* found = waiting.find(lane_of(head.source), head.tag, looks_);
  auto* const of_any = waiting.find(lane_of(MPI_ANY_SOURCE), head.tag, looks_);
  if (found == nullptr || (of_any != nullptr && of_any->order < found->order)) found = of_any;
  if (found == nullptr) return {};
  return waiting.take(*found);
}

void Matching::keep(Arrived arrived) {
  bytes_ += arrived.bytes.size();
  const Head& head = arrived.head;
  halves_[head.context].messages.add(lane_of(head.source), head.tag, std::move(arrived));
}

bool Matching::withdraw(const ReceiveRequest& receive) {
  const auto half = halves_.find(receive.wanted.context);
  if (half == halves_.end()) return false;
  const auto is_it = [&](const auto& one) { return one.get() == &receive; };
  auto& waiting = half->second.receives;
  auto* const found = waiting.find_that(is_it);
  if (found == nullptr) return false;
  static_cast<void>(waiting.take(*found));
  return true;
}

std::optional<Arrived> Matching::withdraw(int from, const Head& withdrawal) {
  const auto half = halves_.find(withdrawal.context);
  if (half == halves_.end()) return std::nullopt;
  const auto is_it = [&](const Arrived& one) {
    return one.from == from && one.head.sender == withdrawal.sender;
  };
  Messages::Item* const found = half->second.messages.find_that(is_it);
  if (found == nullptr) return std::nullopt;
  return take_out(half->second, *found);
}

bool Matching::has_receives(std::uint64_t context) const {
  const auto half = halves_.find(context);
  return half != halves_.end() && !half->second.receives.is_empty();
}

void Matching::forget(std::uint64_t context) {
  const auto half = halves_.find(context);
  if (half == halves_.end()) return;
  if (half->second.receives.is_empty() && half->second.messages.is_empty()) halves_.erase(half);
}

}  // namespace phx::mpi
