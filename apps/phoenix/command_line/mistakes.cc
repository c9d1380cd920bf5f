#include "apps/phoenix/command_line/mistakes.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include "apps/options/option_values.h"
#include "apps/phoenix/command_line/verb.h"

namespace phx::app {
namespace {

/// How many letters have to be added, left out, changed, or exchanged with the next one.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> older(to.size() + 1);
  std::vector<std::size_t> old(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(old.begin(), old.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t other = from[i - 1] == to[j - 1] ? 0 : 1;
      row[j] = std::min({old[j] + 1, row[j - 1] + 1, old[j - 1] + other});
      const bool swaps = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swaps) row[j] = std::min(row[j], older[j - 2] + 1);
    }
    older = std::exchange(old, row);
  }
  return old.back();
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& all) {
  const auto by_distance = [&](const std::string& a, const std::string& b) {
    return distance(word, a) < distance(word, b);
  };
  const auto best = std::ranges::min_element(all, by_distance);
  const std::size_t most = word.size() <= 4 ? 1 : 2;
  const bool is_near = best != all.end() && distance(word, *best) <= most;
  return is_near ? "; did you mean '" + *best + "'?" : "";
}

std::string what_is_wrong(const CLI::App* tool, const CLI::Error& error) {
  std::string verb = "phoenix";
  const CLI::App* last = tool;
  for (auto one = tool->get_subcommands(); !one.empty(); one = last->get_subcommands()) {
    last = one.front();
    verb += " " + last->get_name();
  }
  std::string what = options::in_words(error.what());
  const auto words = tool->remaining(/*recurse=*/true);
  const std::string first = words.empty() ? "" : words.front();
  const bool is_option = first.size() > 1 && first.starts_with("-") && first != "--";
  const std::string option = first.substr(0, first.find('='));
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    what = "not expected:";
    for (const std::string& word : words) what += " " + word;
  }
  const bool has_no_verb = !words.empty() && !verbs_of(*last).empty();
  // An option that is not known leaves what is required behind it unread.
  const std::vector<std::string> known = options_of(*last);
  if (is_option && std::ranges::find(known, option) != known.end()) {
    what = "'" + option + "' goes behind '" + last->get_name() + "'";
  } else if (is_option) {
    what = "there is no option '" + option + "'" + nearest(option, known);
  } else if (has_no_verb) {
    what = "there is no '" + first + "'" + nearest(first, verbs_of(*last));
  }
  return verb + ": " + what + "; see " + verb + " --help\n";
}

}  // namespace phx::app
