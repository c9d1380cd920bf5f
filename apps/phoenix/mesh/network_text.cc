#include "apps/phoenix/mesh/network_text.h"

#include "apps/phoenix/texts/amounts.h"
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
  return spell_fixed(megabits(*rate), 0) + (is_most ? "+" : "");
}

std::string name_of(const overlay::KnownNetwork& network, std::size_t site) {
  const std::string& name = network.sites[site].name;
  return name.empty() ? "s" + std::to_string(site + 1) : name;
}

}  // namespace phx::app
