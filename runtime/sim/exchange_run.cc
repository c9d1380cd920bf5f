#include "runtime/sim/exchange_run.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/sim/post.h"

namespace phx::sim {
namespace {

using redistribution::Pace;
using redistribution::Pacer;
using redistribution::Ways;

ProcessorId id_of(std::size_t position) {
  return ProcessorId{static_cast<std::uint32_t>(position + 1)};
}

/// One exchange on its way.
class Exchange {
 public:
  Exchange(const redistribution::Schedule& schedule, const ExchangeRun& run)
      : run_(run),
        pacer_(schedule, run.bytes, run.pace),
        post_(run.topology, run.placing, PlanRunOptions{}) {}

  Duration take() {
    for (std::size_t i = 0; i < run_.bytes.processors; ++i) go_on(i);
    Duration last{};
    post_.run([&](const Post::Letter& letter) {
      const std::size_t from = letter.from.value - 1;
      const std::size_t to = letter.to.value - 1;
      if (letter.content == kConfirmation) {
        pacer_.on_confirmed(to);
        return go_on(to);
      }
      last = post_.now();
      if (run_.pace == Pace::kNoBarrier) return;
      pacer_.on_arrived(to, static_cast<std::size_t>(letter.content));
      post_.signal({id_of(to), id_of(from), 0, kConfirmation});
      go_on(to);
    });
    return last;
  }

 private:
  /// Instead of a step.
  static constexpr std::uint64_t kConfirmation = ~std::uint64_t{0};

  void go_on(std::size_t self) {
    for (const auto& [step, part] : pacer_.take(self)) {
      const std::size_t to = run_.bytes.messages[part.message].to;
      post_.send({id_of(self), id_of(to), part.amount, step});
    }
  }

  const ExchangeRun& run_;
  Pacer pacer_;
  Post post_;
};

std::uint64_t rate_of(std::uint64_t bytes_per_second) {
  return bytes_per_second == 0 ? Ways::kEndless : bytes_per_second;
}

}  // namespace

Ways ways_of(const overlay::Topology& topology, const overlay::Placing& placing) {
  Ways ways;
  ways.sites = topology.sites.size();
  const std::uint64_t interface = rate_of(topology.interface_bytes_per_second);
  for (const std::size_t site : placing) ways.processors.push_back({site, interface, interface});
  for (std::size_t from = 0; from < ways.sites; ++from) {
    for (std::size_t to = 0; to < ways.sites; ++to) {
      const overlay::Topology::Link& link = topology.link(from, to);
      ways.between.push_back(from == to ? Ways::Way{Ways::kEndless, topology.sites[from].latency}
                                        : Ways::Way{rate_of(link.bytes_per_second), link.latency});
    }
  }
  return ways;
}

Duration run_exchange(const redistribution::Schedule& schedule, const ExchangeRun& run) {
  return Exchange(schedule, run).take();
}

}  // namespace phx::sim
