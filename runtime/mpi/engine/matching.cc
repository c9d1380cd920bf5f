#include "runtime/mpi/engine/matching.h"

#include <algorithm>

namespace phx::mpi {
namespace {

bool fits(const Wanted& wanted, const Head& head) {
  return (wanted.source == MPI_ANY_SOURCE || wanted.source == head.source) &&
         (wanted.tag == MPI_ANY_TAG || wanted.tag == head.tag);
}

}  // namespace

const Arrived* Matching::look(const Wanted& wanted) const {
  const auto half = halves_.find(wanted.context);
  if (half == halves_.end()) return nullptr;
  for (const Arrived& one : half->second.messages) {
    if (fits(wanted, one.head)) return &one;
  }
  return nullptr;
}

std::optional<Arrived> Matching::take(const Wanted& wanted) {
  const auto half = halves_.find(wanted.context);
  if (half == halves_.end()) return std::nullopt;
  auto& waiting = half->second.messages;
  const auto found = std::find_if(waiting.begin(), waiting.end(),
                                  [&](const Arrived& one) { return fits(wanted, one.head); });
  if (found == waiting.end()) return std::nullopt;
  return take_out(half->second, found);
}

Arrived Matching::take_out(Half& half, std::deque<Arrived>::iterator message) {
  Arrived taken = std::move(*message);
  half.messages.erase(message);
  bytes_ -= taken.bytes.size();
  return taken;
}

void Matching::post(Ref<ReceiveRequest> receive) {
  halves_[receive->wanted.context].receives.push_back(std::move(receive));
}

Ref<ReceiveRequest> Matching::take(const Head& head) {
  const auto half = halves_.find(head.context);
  if (half == halves_.end()) return {};
  auto& waiting = half->second.receives;
  const auto found = std::find_if(waiting.begin(), waiting.end(),
                                  [&](const auto& one) { return fits(one->wanted, head); });
  if (found == waiting.end()) return {};
  Ref<ReceiveRequest> taken = std::move(*found);
  waiting.erase(found);
  return taken;
}

void Matching::keep(Arrived arrived) {
  bytes_ += arrived.bytes.size();
  halves_[arrived.head.context].messages.push_back(std::move(arrived));
}

bool Matching::withdraw(const ReceiveRequest& receive) {
  const auto half = halves_.find(receive.wanted.context);
  if (half == halves_.end()) return false;
  return std::erase_if(half->second.receives,
                       [&](const auto& one) { return one.get() == &receive; }) > 0;
}

std::optional<Arrived> Matching::withdraw(int from, const Head& withdrawal) {
  const auto half = halves_.find(withdrawal.context);
  if (half == halves_.end()) return std::nullopt;
  auto& waiting = half->second.messages;
  const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Arrived& one) {
    return one.from == from && one.head.sender == withdrawal.sender;
  });
  if (found == waiting.end()) return std::nullopt;
  return take_out(half->second, found);
}

void Matching::forget(std::uint64_t context) {
  const auto half = halves_.find(context);
  if (half == halves_.end()) return;
  if (half->second.receives.empty() && half->second.messages.empty()) halves_.erase(half);
}

}  // namespace phx::mpi
