#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/reduce_op.h"
#include "overlay/base/rng.h"
#include "runtime/mpi/engine/traffic.h"

namespace phx::mpi {

/// Processes that send to each other; what is under way is delivered in an order of chance, but
/// that of each pair is kept.
class World {
 public:
  World(int size, std::uint64_t seed) : rng_(seed) {
    std::vector<int> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    group_ = Ref<Group>(new Group(all));
    for (int i = 0; i < size; ++i) processes_.emplace_back(i);
  }
  Traffic& at(int i) { return processes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Scope scope(int rank, std::uint64_t context = 0, bool is_whole = false,
                            bool may_combine = false, bool is_near = false,
                            bool is_crowded = false) const {
    return {context, rank, group_, is_whole, may_combine, is_near || is_crowded, is_crowded};
  }
  bool step() {
    for (Traffic& one : processes_) {
      for (Traffic::Output& output : one.take_outputs()) {
        if (output.combined) {
          contribute(one.self(), output);
          continue;
        }
        if (output.to == Traffic::kAll) {
          ++casts;
          for (const Traffic& other : processes_) {
            if (other.self() == one.self()) continue;
            ways_[{one.self(), other.self()}].push_back({other.self(), output.tag, output.payload});
          }
          continue;
        }
        std::deque<Traffic::Output>& way = ways_[{one.self(), output.to}];
        if (!output.packs) way.push_back(output);
        for (MPI_Count at = 0; at < output.bytes; at += Traffic::kPart) {
          way.push_back({output.to, output.tag, output.pack(at)});
        }
        const MPI_Count parts = (output.bytes + Traffic::kPart - 1) / Traffic::kPart;
        const std::uint64_t count = output.packs ? static_cast<std::uint64_t>(parts) : 1;
        messages += count;
        sent[{one.self(), output.to}] += count;
        if (output.packs) one.on_packed(*output.packs);
      }
    }
    std::erase_if(ways_, [](const auto& way) { return way.second.empty(); });
    if (ways_.empty()) return false;
    auto way = std::next(ways_.begin(), static_cast<std::ptrdiff_t>(rng_.below(ways_.size())));
    const Traffic::Output output = std::move(way->second.front());
    way->second.pop_front();
    at(output.to).on_message(way->first.first, output.tag, output.payload);
    return true;
  }
  void run() {
    while (step()) {
    }
  }
  std::uint64_t messages = 0;
  std::map<std::pair<int, int>, std::uint64_t> sent;  ///< of these, from and to
  std::uint64_t casts = 0;
  std::uint64_t contributions = 0;

 private:
  struct Reduction {
    std::size_t contributed = 0;
    Payload value;
  };

  /// The n-th contribution of each process towards one is for the n-th reduction.
  void contribute(int from, const Traffic::Output& output) {
    ++contributions;
    const std::size_t number = next_[{from, output.to}]++;
    std::deque<Reduction>& all = reductions_[output.to];
    if (all.size() <= number) all.resize(number + 1);
    Reduction& one = all[number];
    one.value = one.contributed++ == 0
                    ? output.payload
                    : collectives::combine(*output.combined, one.value, output.payload).value();
    if (one.contributed < processes_.size()) return;
    const Payload value = std::exchange(one.value, {});
    const std::size_t half = value.size() / 2;
    for (Traffic& process : processes_) {
      const Traffic::Result result{output.to, output.combined->to_all};
      if (!result.is_for_all && process.self() != output.to) continue;
      if (half > 0) process.on_result(result, value.slice(0, half));
      process.on_result(result, value.slice(half, value.size() - half));
    }
  }

  Rng rng_;
  std::map<std::pair<int, int>, std::size_t> next_;
  std::map<int, std::deque<Reduction>> reductions_;
  Ref<Group> group_;
  std::deque<Traffic> processes_;
  std::map<std::pair<int, int>, std::deque<Traffic::Output>> ways_;
};

/// Every second of so many characters.
class Strided {
 public:
  explicit Strided(std::size_t count)
      : bytes(2 * count),
        type_(repeated_layout(committed(MPI_CHAR).layout(), static_cast<MPI_Count>(count), 2), {}) {
  }
  Buffer buffer() { return {bytes.data(), 1, type_}; }

  std::vector<char> bytes;

 private:
  Datatype type_;
};

}  // namespace phx::mpi
