#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/survey/survey.h"

namespace phx::overlay::support {

inline ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}

/// Surveys joined by a network: a message takes half of the round trip of its ends' sites, and a
/// long one has to pass interfaces and ways, one after the other. Between two processors no more
/// is under way than a window, which begins small and grows by what arrives, as TCP does it.
struct SurveyNet {
  explicit SurveyNet(std::vector<std::uint32_t> wanted) : sites(std::move(wanted)) {}

  [[nodiscard]] std::uint32_t site(ProcessorId id) const { return sites[id.value - 1]; }
  [[nodiscard]] Duration way(ProcessorId a, ProcessorId b) const {
    return site(a) == site(b) ? 150us : far;
  }
  /// Everybody hears that these live.
  void members(const ProcessorSet& ids);
  void take(ProcessorId from, Survey::Outbox& out);
  /// When it has passed everything on its way but the distance.
  [[nodiscard]] Instant passes(ProcessorId from, ProcessorId to, const Message& message);
  void run_for(Duration time);
  bool step(Instant end);
  [[nodiscard]] Traffic traffic_of(ProcessorId id);
  /// All have this one.
  [[nodiscard]] KnownNetwork common();
  /// As it is: sites are what they should be.
  void check_sites(std::size_t count);

  struct Letter {
    ProcessorId from;
    ProcessorId to;
    Message message;
  };
  struct Window {
    std::uint64_t bytes = 14'600;
    std::uint64_t under_way = 0;
    std::deque<std::pair<Instant, std::uint64_t>> confirmed;  ///< When, and how much.
  };
  static constexpr std::uint64_t kGigabit = 125'000'000;
  using Ends = std::pair<std::uint32_t, std::uint32_t>;
  std::map<ProcessorId, std::uint64_t> slow;  ///< Interfaces that are not of 1 Gbit/s.
  std::map<Ends, std::uint64_t> narrow;       ///< Ways between sites that are not.
  std::map<ProcessorId, Instant> out_free;
  std::map<ProcessorId, Instant> in_free;
  std::map<Ends, Instant> way_free;
  std::map<std::pair<ProcessorId, ProcessorId>, Window> windows;
  std::vector<std::uint32_t> sites;  ///< Of p1, p2, ...
  Duration far = 3ms;
  Instant now{};
  ProcessorSet live;
  std::set<ProcessorId> mute;              ///< What they send is lost.
  std::map<ProcessorId, Duration> queued;  ///< So long messages to them wait behind others' bytes.
  std::map<ProcessorId, Traffic> carried;  ///< Downloads.
  std::map<ProcessorId, std::uint64_t> traffic;  ///< Sent to others besides, bytes per second.
  std::map<ProcessorId, std::uint64_t> stream;   ///< Taken from others before downloads, likewise.
  std::map<ProcessorId, Duration> handling;      ///< It takes no two pings sooner after each other.
  std::map<ProcessorId, Instant> handled_at;
  std::set<ProcessorId> uninformed;  ///< What they should be told of the network is lost.
  std::map<ProcessorId, Survey> surveys;
  std::multimap<Instant, Letter> mail;
  std::map<std::pair<ProcessorId, Survey::Timer>, std::optional<Instant>> timers;
  std::uint64_t sent = 0;
  std::uint64_t tasks = 0;
  std::uint64_t loads = 0;
  std::uint64_t loaded = 0;  ///< Bytes.
  std::map<std::pair<ProcessorId, ProcessorId>, std::uint64_t> loaded_over;
};

inline std::vector<std::uint32_t> round_robin(std::uint32_t processors, std::uint32_t sites) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < processors; ++i) result.push_back(i % sites);
  return result;
}

inline ProcessorSet first(std::uint32_t count) {
  return ProcessorSet::range(p(1), p(count));
}

inline bool is_about(std::optional<std::uint64_t> rate, std::uint64_t expected) {
  const double part = static_cast<double>(rate.value_or(0)) / static_cast<double>(expected);
  return part > 0.8 && part < 1.25;
}

/// Of long ways less is known: a narrow one may be up to twice as wide.
inline bool is_near(std::optional<std::uint64_t> rate, std::uint64_t expected) {
  const double part = static_cast<double>(rate.value_or(0)) / static_cast<double>(expected);
  return part > 0.5 && part < 2;
}

}  // namespace phx::overlay::support
