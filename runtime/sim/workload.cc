#include "runtime/sim/workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

namespace phx::sim {
namespace {

using collectives::ReduceOp;
using collectives::ReduceType;

std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return Rng(a * 0x9e3779b97f4a7c15ULL ^ b * 0xc2b2ae3d27d4eb4fULL ^ c).next();
}

std::int64_t element(const Round& round, VnodeId vnode, std::size_t index) {
  constexpr std::uint64_t kMost = 1'000'000;
  return static_cast<std::int64_t>(mix(round.number, vnode.value, index) % kMost);
}

/// Of different magnitudes and signs, so that the order of a sum is in its last bits.
double floating(const Round& round, VnodeId vnode, std::size_t index) {
  constexpr std::uint64_t kMagnitudes = 12;
  const std::uint64_t drawn = mix(round.number, vnode.value, index);
  const auto size = std::ldexp(1.0, static_cast<int>(drawn % kMagnitudes));
  return (drawn % 7 < 3 ? -size : size) * static_cast<double>(drawn >> 11U);
}

template <class Number>
Payload payload_of(const std::vector<Number>& values) {
  return Payload::copy_of(std::as_bytes(std::span(values)));
}

bool is_floating(const Round& round) {
  return round.kind.type == ReduceType::kDouble;
}

/// As a carry ripples in a binary counter: what two halves of equal size give is one value of twice
/// the size. What is left over is added from left to right.
double ordered_sum(const std::vector<double>& values) {
  std::vector<std::pair<std::uint64_t, double>> blocks;
  for (const double value : values) {
    blocks.emplace_back(1, value);
    while (blocks.size() > 1 && blocks[blocks.size() - 2].first == blocks.back().first) {
      const auto [size, right] = blocks.back();
      blocks.pop_back();
      blocks.back() = {2 * size, blocks.back().second + right};
    }
  }
  double sum = blocks.front().second;
  for (std::size_t i = 1; i < blocks.size(); ++i) sum += blocks[i].second;
  return sum;
}

Payload ordered_sums(const Round& round, std::uint64_t vnodes) {
  std::vector<double> sums(round.elements);
  std::vector<double> values(static_cast<std::size_t>(vnodes));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = floating(round, VnodeId{v}, i);
    sums[i] = ordered_sum(values);
  }
  return payload_of(sums);
}

void combine(ReduceOp op, std::int64_t& into, std::int64_t value) {
  if (op == ReduceOp::kMin) {
    into = std::min(into, value);
  } else if (op == ReduceOp::kMax) {
    into = std::max(into, value);
  } else {
    into += value;
  }
}

}  // namespace

Workload::Workload(const WorkloadOptions& options, std::uint64_t seed, Violations& violations)
    : options_(options),
      rng_(Rng(seed).fork("plan")),
      ledger_(options.vnodes, static_cast<std::uint32_t>(seed), violations) {
  broadcasts_.resize(static_cast<std::size_t>(options.vnodes));
  Rng roots = rng_.fork("roots");
  for (std::uint32_t i = 0; i < options.broadcasts; ++i) {
    ++broadcasts_[static_cast<std::size_t>(roots.below(options.vnodes))];
  }
}

Round Workload::round(std::uint64_t number) const {
  constexpr std::array kOps = {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kUser};
  const std::array<std::size_t, 4> elements = {1, 1, 7, options_.long_elements};
  if (const auto ordered = ordered_.find(number); ordered != ordered_.end()) return ordered->second;
  Rng rng(mix(Rng(rng_).next(), number, 1));
  Round round;
  round.number = number;
  round.target = VnodeId{rng.below(options_.targets == 0 ? options_.vnodes : options_.targets)};
  round.kind.op = kOps[static_cast<std::size_t>(rng.below(kOps.size()))];
  round.kind.type = ReduceType::kInt64;
  round.kind.to_all = rng.below(2) == 0;
  round.elements = elements.at(static_cast<std::size_t>(rng.below(elements.size())));
  if (round.kind.op == ReduceOp::kUser) {
    round.kind.type = ReduceType::kBytes;
    round.elements = 1;
  }
  if (options_.sums != Sums::kDrawn) {
    round.kind.op = ReduceOp::kSum;
    round.kind.type = ReduceType::kDouble;
    round.kind.ordered = options_.sums == Sums::kOrderedDoubles;
  }
  return round;
}

void Workload::order_round(VnodeId target, const collectives::ReductionKind& kind,
                           std::size_t elements) {
  Round& round = ordered_[options_.reductions];
  round.number = options_.reductions++;
  round.target = target;
  round.kind = kind;
  round.elements = elements;
}

/// After the messages that it was ordered before.
bool Workload::take_end(VnodeId root) {
  if (end_root_ != root || next_order(root)) return false;
  end_root_.reset();
  return true;
}

std::optional<VnodeId> Workload::next_order(VnodeId from) const {
  const auto found = orders_.find(from);
  if (found == orders_.end() || found->second.empty()) return std::nullopt;
  return found->second.front().first;
}

/// The orders of one vnode take turns.
void Workload::on_order_sent(VnodeId from) {
  auto& orders = orders_.at(from);
  auto [to, left] = orders.front();
  orders.pop_front();
  if (left > 1) orders.emplace_back(to, left - 1);
}

Payload Workload::contribution(const Round& round, VnodeId vnode) const {
  if (is_floating(round)) {
    std::vector<double> numbers(round.elements);
    for (std::size_t i = 0; i < round.elements; ++i) numbers[i] = floating(round, vnode, i);
    return payload_of(numbers);
  }
  std::vector<std::int64_t> values(round.elements);
  for (std::size_t i = 0; i < round.elements; ++i) values[i] = element(round, vnode, i);
  return payload_of(values);
}

const Payload& Workload::expected(const Round& round) {
  const auto index = static_cast<std::size_t>(round.number);
  if (expected_.size() <= index) expected_.resize(index + 1);
  if (expected_[index]) return *expected_[index];
  if (is_floating(round)) return *(expected_[index] = ordered_sums(round, options_.vnodes));
  const bool is_user = round.kind.op == ReduceOp::kUser;
  std::vector<std::int64_t> values;
  for (std::uint64_t v = 0; v < options_.vnodes; ++v) {
    for (std::size_t i = 0; i < round.elements; ++i) {
      const std::int64_t value = element(round, VnodeId{v}, i);
      if (is_user || v == 0) {
        values.push_back(value);
      } else {
        combine(round.kind.op, values[i], value);
      }
    }
  }
  expected_[index] = payload_of(values);
  return *expected_[index];
}

bool Workload::is_complete(Instant now) const {
  return !is_held_open_ && done_ >= options_.vnodes && ledger_.outstanding() == 0 &&
         now - begun_at_ >= options_.lasts;
}

double Workload::share_of_time(Instant now) const {
  if (options_.lasts <= Duration{}) return 1.0;
  return std::min(1.0, to_ms(now - begun_at_) / to_ms(options_.lasts));
}

}  // namespace phx::sim
