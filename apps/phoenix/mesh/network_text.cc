#include "apps/phoenix/mesh/network_text.h"

#include "apps/phoenix/texts/amounts.h"
#include "overlay/network/topology.h"
#include "overlay/rate_gauge_options.h"

namespace phx::app {

double megabits(std::uint64_t bytes_per_second) {
  constexpr double kBits = 8;
  constexpr double kMega = 1e6;
  return static_cast<double>(bytes_per_second) * kBits / kMega;
}

std::string spell_latency(const std::optional<Duration>& latency) {
  return latency ? spell_fixed(to_ms(*latency), 2) : "?";
}

std::string spell_rate(const std::optional<std::uint64_t>& rate) {
  if (rate == overlay::kUnlimited) return "unlimited";
  if (!rate) return "?";
  const bool is_most = *rate >= overlay::RateGaugeOptions{}.fastest;
  // Two digits that count, or all that there are.
  constexpr double kTwoDigits = 10;
  constexpr int kDigitsMost = 6;
  const double value = megabits(*rate);
  int digits = 0;
  for (double shown = value; shown < kTwoDigits && digits < kDigitsMost; shown *= 10) ++digits;
  return spell_fixed(value, digits) + (is_most ? "+" : "");
}

std::string name_of(const overlay::KnownNetwork& network, std::size_t site) {
  const std::string& name = network.sites[site].name;
  return name.empty() ? "s" + std::to_string(site + 1) : name;
}

std::string ability_in_words(const overlay::KnownNetwork::Ability& ability) {
  std::string text = spell_rate(ability.out_bytes_per_second) + " Mbit/s out, " +
                     spell_rate(ability.in_bytes_per_second) + " Mbit/s in";
  if (ability.overhead) {
    text += ", " + spell_fixed(to_ms(*ability.overhead) * 1000, 1) + " us per message and end";
  }
  if (ability.wait) {
    text += ", stands still now and then: messages wait for " +
            spell_fixed(to_ms(*ability.wait), 0) + " ms";
  }
  return text;
}

std::string as_topology(const overlay::KnownNetwork& network) {
  std::string text;
  for (std::size_t i = 0; i < network.sites.size(); ++i) {
    const overlay::KnownNetwork::Site& site = network.sites[i];
    text += "site " + name_of(network, i) + " " + std::to_string(site.processors.size());
    if (site.latency) text += " " + overlay::in_microseconds(*site.latency);
    text += "  # p" + to_string(site.processors) + "\n";
  }
  for (const auto& [ends, way] : network.between) {
    const std::string names = name_of(network, ends.first) + " " + name_of(network, ends.second);
    // One line for both directions, as topology files have it.
    if (ends.first > ends.second) continue;
    if (way.latency)
      text += "latency " + names + " " + overlay::in_microseconds(*way.latency) + "\n";
    if (way.bytes_per_second && way.bytes_per_second != overlay::kUnlimited) {
      text += "link " + names + " " + overlay::in_megabits(*way.bytes_per_second) + "\n";
    }
  }
  const auto& [overhead, out, in, wait] = network.usual;
  if (out && out != overlay::kUnlimited) text += "nic " + overlay::in_megabits(*out) + "\n";
  if (overhead) text += "overhead " + overlay::in_microseconds(*overhead) + "\n";
  for (const auto& [processor, ability] : network.odd) {
    text +=
        "# " + to_string(processor) + ": " + ability_in_words(network.ability(processor)) + "\n";
  }
  return text;
}

}  // namespace phx::app
