#include "apps/phoenix/bench/round_report.h"

#include <algorithm>
#include <vector>

#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/base/median.h"

namespace phx::app {
namespace {

std::vector<double> times_of(const Said& said, const std::string& name) {
  const auto found = said.find(name);
  return found == said.end() ? std::vector<double>() : found->second;
}

std::string in_ms(double seconds) {
  return spell_fixed(1e3 * seconds, 3);
}

/// "< 0.120" is not known better.
std::string in_ms_above(double noise, double seconds) {
  return seconds < noise ? "< " + in_ms(noise) : in_ms(seconds);
}

}  // namespace

void RoundReport::add(std::uint64_t bytes, const std::string& order, const Said& said) {
  const double br = phx::median(times_of(said, "br/" + order));
  const double noise = phx::median(times_of(said, "noise/" + order));
  const std::vector<double> v3 = times_of(said, "v3/" + order);
  std::vector<double> v2 = times_of(said, "v2/" + order);
  const double median = phx::median(v2);
  const double most = v2.empty() ? 0 : *std::max_element(v2.begin(), v2.end());
  const auto below = std::count_if(v2.begin(), v2.end(), [&](double time) { return time < noise; });
  for (double& time : v2) time = std::max(time, noise);
  const bool is_known = median > 0 && median >= noise;
  rows_.push_back({std::to_string(bytes), order, in_ms(br), in_ms_above(noise, median),
                   in_ms_above(noise, most), is_known ? spell_fixed(br / median, 2) : "",
                   v3.empty() ? "" : in_ms(phx::median(v3)), ""});
  list_.push_back({{"bytes", bytes},
                   {"order", order},
                   {"br", br},
                   {"v2", v2},
                   {"v2_noise", noise},
                   {"v2_below_noise", below},
                   {"v3", v3}});
}

void RoundReport::tell_past(double percent) {
  if (told_ < rows_.size()) rows_[told_].back() = spell_fixed(percent, 2);
  for (; told_ < rows_.size(); ++told_) list_[told_]["past_trees_percent"] = percent;
}

std::string RoundReport::table() const {
  Table table({"BYTES", "ROOTS", "BR MS", "V2 MS", "V2 MOST MS", "BR/V2", "V3 MS", "PAST TREES %"});
  for (const std::vector<std::string>& row : rows_) table.add(row);
  return table.text();
}

}  // namespace phx::app
