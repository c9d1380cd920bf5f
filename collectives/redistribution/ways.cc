#include "collectives/redistribution/ways.h"

#include <algorithm>

namespace phx::redistribution {
namespace {

/// As a share of what there is, rounded down. Exact at both ends, and never less for more.
std::uint64_t share(std::uint64_t amount, std::uint64_t whole, std::uint64_t of) {
  if (amount >= whole) return of;
  const long double part = static_cast<long double>(amount) / static_cast<long double>(whole);
  return std::min(of, static_cast<std::uint64_t>(part * static_cast<long double>(of)));
}

}  // namespace

Duration wire_time(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  if (bytes_per_second == Ways::kEndless) return {};
  constexpr double kNanoseconds = 1e9;
  const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_second);
  constexpr double kLongest = 9e18;  // nanoseconds, as far as a Duration reaches
  return Duration(static_cast<Duration::rep>(std::min(seconds * kNanoseconds, kLongest)));
}

std::uint64_t Ways::rate(std::size_t from, std::size_t to) const {
  return std::min({processors[from].out, processors[to].in, way(from, to).bytes_per_second});
}

Ways Ways::equal(std::size_t processors, std::uint64_t bytes_per_second) {
  Ways ways;
  ways.processors.assign(processors, {0, bytes_per_second, bytes_per_second});
  ways.between.resize(1);
  return ways;
}

MessageGraph weighed(const MessageGraph& bytes, const Ways& ways) {
  std::uint64_t widest = 0;
  for (const Message& message : bytes.messages) {
    widest = std::max(widest, ways.rate(message.from, message.to));
  }
  // Where the widest way is endless, so is the ratio: a thousand is enough to come first.
  constexpr std::uint64_t kRatioMost = 1000;
  const std::uint64_t total = std::max<std::uint64_t>(bounds_of(bytes).total, 1);
  const auto most = static_cast<long double>(std::min(kRatioMost, kTotalMax / total));
  MessageGraph weights = bytes;
  for (Message& message : weights.messages) {
    const std::uint64_t rate = ways.rate(message.from, message.to);
    if (rate == widest) continue;
    const long double ratio = static_cast<long double>(widest) / static_cast<long double>(rate);
    const auto weight = static_cast<long double>(message.weight);
    message.weight = static_cast<std::uint64_t>(weight * std::min(ratio, most));
  }
  return weights;
}

Schedule in_bytes(const Schedule& schedule, const MessageGraph& weights,
                  const MessageGraph& bytes) {
  std::vector<std::uint64_t> moved(bytes.messages.size());
  std::vector<std::uint64_t> sent(bytes.messages.size());
  Schedule result;
  for (const Step& step : schedule.steps) {
    Step parts;
    for (const auto& [message, amount] : step) {
      moved[message] += amount;
      const std::uint64_t until =
          share(moved[message], weights.messages[message].weight, bytes.messages[message].weight);
      if (until > sent[message]) parts.push_back({message, until - sent[message]});
      sent[message] = until;
    }
    if (!parts.empty()) result.steps.push_back(std::move(parts));
  }
  return result;
}

Duration least_time(const MessageGraph& bytes, const Ways& ways) {
  std::vector<std::uint64_t> out(bytes.processors);
  std::vector<std::uint64_t> in(bytes.processors);
  std::vector<std::uint64_t> between(ways.between.size());
  for (const Message& message : bytes.messages) {
    out[message.from] += message.weight;
    in[message.to] += message.weight;
    between[ways.way_of(message.from, message.to)] += message.weight;
  }
  Duration least{};
  for (std::size_t i = 0; i < bytes.processors; ++i) {
    least = std::max({least, wire_time(out[i], ways.processors[i].out),
                      wire_time(in[i], ways.processors[i].in)});
  }
  for (std::size_t i = 0; i < between.size(); ++i) {
    least = std::max(least, wire_time(between[i], ways.between[i].bytes_per_second));
  }
  return least;
}

}  // namespace phx::redistribution
