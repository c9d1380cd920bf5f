#include "apps/phoenix/mpi/mpi_waits.h"

#include <algorithm>
#include <utility>

namespace phx::app {
namespace {

constexpr std::size_t kLinesMost = 8;
constexpr std::size_t kNamedMost = 6;  ///< ranks of a line

/// "rank 3", "ranks 0, 1 and 2", "ranks 0, 1, 2, 3, 4, 5 and 18 more".
std::string spell(const std::vector<std::size_t>& ranks) {
  if (ranks.size() == 1) return "rank " + std::to_string(ranks[0]);
  std::string text = "ranks ";
  const std::size_t named = ranks.size() > kNamedMost + 1 ? kNamedMost : ranks.size() - 1;
  for (std::size_t i = 0; i < named; ++i) text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  const std::size_t rest = ranks.size() - named;
  return text + " and " +
         (rest == 1 ? std::to_string(ranks.back()) : std::to_string(rest) + " more");
}

}  // namespace

MpiWaits::Process& MpiWaits::change(std::size_t rank, Instant now) {
  since_ = now;
  used_.clear();
  is_told_ = false;
  return ranks_[rank];
}

void MpiWaits::on_begun(std::size_t rank, Instant now) {
  change(rank, now).life = Life::kInside;
}

void MpiWaits::on_waits(std::size_t rank, const std::string& words, Instant now) {
  const std::size_t end = words.find(' ');
  if (end != std::string::npos) {
    change(rank, now).waits[words.substr(0, end)] = words.substr(end + 1);
  }
}

void MpiWaits::on_goes_on(std::size_t rank, const std::string& number, Instant now) {
  change(rank, now).waits.erase(number);
}

void MpiWaits::on_finalizes(std::size_t rank, Instant now) {
  change(rank, now).life = Life::kFinalizing;
}

void MpiWaits::on_ended(std::size_t rank, Instant now) {
  change(rank, now).life = Life::kEnded;
}

void MpiWaits::on_state(std::size_t rank, bool is_stopped, Instant now) {
  if (ranks_[rank].is_stopped != is_stopped) change(rank, now).is_stopped = is_stopped;
}

std::vector<std::size_t> MpiWaits::looked_at() const {
  std::vector<std::size_t> inside;
  const bool any_waits =
      std::ranges::any_of(ranks_, [](const Process& one) { return !one.waits.empty(); });
  for (std::size_t i = 0; any_waits && !is_told_ && i < ranks_.size(); ++i) {
    if (ranks_[i].life == Life::kInside) inside.push_back(i);
  }
  return inside;
}

bool MpiWaits::all_wait() const {
  const auto waits = [](const Process& one) {
    return one.life == Life::kInside && (!one.waits.empty() || one.is_stopped);
  };
  const auto is_over = [](const Process& one) {
    return one.life == Life::kFinalizing || one.life == Life::kEnded;
  };
  return std::ranges::any_of(ranks_, waits) && std::ranges::all_of(ranks_, [&](const Process& one) {
           return waits(one) || is_over(one);
         });
}

std::optional<Instant> MpiWaits::due() const {
  if (is_told_ || !all_wait()) return std::nullopt;
  return used_.empty() ? since_ : since_ + kStandstill;
}

std::string MpiWaits::look(Instant now, std::span<const Duration> used) {
  const auto is_due = due();
  if (!is_due || now < *is_due) return "";
  const auto before = std::exchange(used_, std::vector<Duration>(used.begin(), used.end()));
  const Duration passed = now - std::exchange(since_, now);
  if (before.empty()) return "";
  // A thread that waits is not all that a rank has. Its looks take a thousandth.
  const auto computes = [&](std::size_t i) { return used_[i] - before[i] > passed / 20; };
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (computes(i)) return "";
  }
  is_told_ = true;
  const std::string text = said();
  return std::exchange(told_, text) == text ? "" : text;
}

std::string MpiWaits::spell(const Process& process, bool is_one) {
  switch (process.life) {
    case Life::kStarting:
      return is_one ? "has not come through MPI_Init" : "have not come through MPI_Init";
    case Life::kFinalizing:
      return is_one ? "is in MPI_Finalize" : "are in MPI_Finalize";
    case Life::kEnded:
      return is_one ? "has ended" : "have ended";
    case Life::kInside:
      break;
  }
  const std::string stopped = is_one ? "is stopped" : "are stopped";
  if (process.waits.empty()) {
    if (process.is_stopped) return stopped + ", by a signal or a debugger";
    return is_one ? "has not waited long for anything" : "have not waited long for anything";
  }
  std::string text = process.is_stopped ? stopped + " in " : is_one ? "waits in " : "wait in ";
  for (const auto& [number, words] : process.waits) {
    text += (text.ends_with(" in ") ? "" : ", and in ") + words;
  }
  return text;
}

std::string MpiWaits::said() const {
  if (std::ranges::none_of(ranks_, [](const Process& one) { return !one.waits.empty(); }))
    return "";
  std::vector<std::pair<const Process*, std::vector<std::size_t>>> groups;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const auto same = [&](const auto& group) {
      return spell(*group.first, true) == spell(ranks_[i], true);
    };
    const auto found = std::ranges::find_if(groups, same);
    if (found != groups.end()) {
      found->second.push_back(i);
    } else {
      groups.push_back({&ranks_[i], {i}});
    }
  }
  std::string text;
  const std::size_t shown = groups.size() > kLinesMost ? kLinesMost - 1 : groups.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [process, numbers] = groups[i];
    text += "  " + app::spell(numbers) + " " + spell(*process, numbers.size() == 1) + "\n";
  }
  if (shown < groups.size()) {
    text += "  and " + std::to_string(groups.size() - shown) + " more lines like these\n";
  }
  return text;
}

}  // namespace phx::app
