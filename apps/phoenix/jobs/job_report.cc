#include "apps/phoenix/jobs/job_report.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/base/median.h"

namespace phx::app {
namespace {

constexpr std::size_t kPassagesMax = 1'000'000;

/// The words of a line, one after the other.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  std::uint64_t number() { return number_in(word()); }
  double seconds() { return static_cast<double>(number()) / 1e6; }
  /// "0-3,8", as to_string() writes it.
  VnodeSet vnodes() {
    VnodeSet set;
    for (std::string_view all = word(); !all.empty();) {
      const std::string_view one = all.substr(0, all.find(','));
      all.remove_prefix(std::min(one.size() + 1, all.size()));
      const std::size_t dash = std::min(one.find('-'), one.size());
      const VnodeId first{number_in(one.substr(0, dash))};
      const VnodeId last{dash < one.size() ? number_in(one.substr(dash + 1)) : first.value};
      if (first <= last) set = set.united(VnodeSet::range(first, last));
    }
    return set;
  }

 private:
  static std::uint64_t number_in(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  std::string_view rest_;
};

std::string percent(double part, double whole) {
  return std::to_string(static_cast<int>(whole > 0 ? 100 * part / whole + 0.5 : 0)) + " %";
}

}  // namespace

JobReport::Stretch JobReport::Process::total() const {
  Stretch sum{begin, end, 0, 0, 0};
  for (const Stretch& one : stretches) {
    sum.messages += one.messages;
    sum.bytes += one.bytes;
    sum.waited += one.waited;
  }
  return sum;
}

double JobReport::Process::longest_pause() const {
  double longest = 0;
  for (const Pause& pause : pauses) longest = std::max(longest, pause.took);
  return longest;
}

void JobReport::add(ProcessorId processor, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    take(processor, lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

void JobReport::take(ProcessorId id, std::string_view line) {
  Words words(line);
  const std::string_view what = words.word();
  if (what == "vnode") {
    Vnode& vnode = vnodes_[VnodeId{words.number()}];
    vnode.messages += words.number();
    vnode.bytes += words.number();
    vnode.waited += words.seconds();
    return;
  }
  const double now = words.seconds();
  if (what == "attached") processes_.try_emplace(id).first->second.begin = now;
  const auto found = processes_.find(id);
  if (found == processes_.end()) return;
  Process& process = found->second;
  process.end = std::max(process.end, now);
  if (what == "did") {
    const double since = process.stretches.empty() ? process.begin : process.stretches.back().end;
    Stretch stretch{since, now, words.number(), 0, 0};
    stretch.bytes = words.number();
    stretch.waited = words.seconds();
    process.stretches.push_back(stretch);
  }
  if (what == "pause") process.pauses.push_back({now, words.seconds()});
  if (what == "begins") process.held = process.held.united(words.vnodes());
  if (what == "came" || what == "left") pass(id, process, now, what == "came", words.vnodes());
  if (what == "ended") process.has_ended = true;
}

void JobReport::pass(ProcessorId id, Process& process, double now, bool is_arrival,
                     VnodeSet vnodes) {
  process.held = is_arrival ? process.held.united(vnodes) : process.held.minus(vnodes);
  (is_arrival ? process.came : process.left) += vnodes.size();
  if (passages_.size() < kPassagesMax)
    passages_.push_back({now, id, is_arrival, std::move(vnodes)});
}

void JobReport::complete() {
  if (processes_.empty()) return;
  double first = processes_.begin()->second.begin;
  for (const auto& [id, process] : processes_) first = std::min(first, process.begin);
  for (auto& [id, process] : processes_) {
    for (double* time : {&process.begin, &process.end}) *time -= first;
    for (Stretch& stretch : process.stretches) {
      stretch.begin -= first;
      stretch.end -= first;
    }
    for (Pause& pause : process.pauses) pause.begin -= first;
    length_ = std::max(length_, process.end);
  }
  for (Passage& passage : passages_) passage.at -= first;
  pair_moves();
}

/// By the clocks of two machines a vnode may have come before it left: then it came at once.
void JobReport::pair_moves() {
  std::ranges::stable_sort(passages_, {}, &Passage::at);
  // Of each vnode what has left and not come; or the other way round.
  std::map<VnodeId, std::vector<const Passage*>> open;
  using Key = std::pair<const Passage*, const Passage*>;
  std::map<Key, std::size_t> found;
  for (const Passage& passage : passages_) {
    for (const VnodeId vnode : passage.vnodes.ids()) {
      std::vector<const Passage*>& others = open[vnode];
      const auto other = std::ranges::find_if(others, [&](const Passage* one) {
        return one->is_arrival != passage.is_arrival && one->processor != passage.processor;
      });
      if (other == others.end()) {
        others.push_back(&passage);
        continue;
      }
      const Passage* left = passage.is_arrival ? *other : &passage;
      const Passage* came = passage.is_arrival ? &passage : *other;
      others.erase(other);
      ++vnodes_[vnode].moves;
      const auto [at, is_new] = found.try_emplace({left, came}, moves_.size());
      if (is_new) {
        moves_.push_back(
            {left->processor, came->processor, left->at, std::max(left->at, came->at), 0, vnode});
      }
      ++moves_[at->second].vnodes;
    }
  }
}

std::string JobReport::text() const {
  if (empty()) return "no process has told of itself: no phx::Session, or the job ended first\n";
  Table table({"PROCESSOR", "FROM", "TO", "VNODES", "SENT", "BYTES", "PER SECOND", "WAITED", "CAME",
               "LEFT", "PAUSES", "LONGEST"});
  for (const auto& [id, process] : processes_) {
    const Stretch total = process.total();
    const double ran = process.end - process.begin;
    const auto rate =
        static_cast<std::uint64_t>(ran > 0 ? static_cast<double>(total.bytes) / ran : 0);
    const double longest = process.longest_pause();
    table.add({to_string(id), spell_seconds(process.begin),
               process.has_ended ? spell_seconds(process.end) : "?",
               process.held.empty() ? "-" : to_string(process.held), std::to_string(total.messages),
               spell_bytes(total.bytes), spell_bytes(rate), percent(total.waited, ran),
               std::to_string(process.came), std::to_string(process.left),
               std::to_string(process.pauses.size()),
               process.pauses.empty() ? "-" : spell_short(longest)});
  }
  std::string text = table.text();
  std::vector<std::pair<VnodeId, Vnode>> busiest(vnodes_.begin(), vnodes_.end());
  constexpr std::size_t kNamed = 5;
  std::ranges::stable_sort(busiest, std::greater<>(),
                           [](const auto& one) { return one.second.bytes; });
  if (busiest.size() > kNamed) busiest.resize(kNamed);
  if (!busiest.empty()) {
    Table vnodes({"BUSIEST", "SENT", "BYTES", "MOVES", "WAITED"});
    for (const auto& [id, vnode] : busiest) {
      vnodes.add({to_string(id), std::to_string(vnode.messages), spell_bytes(vnode.bytes),
                  std::to_string(vnode.moves), spell_seconds(vnode.waited)});
    }
    text += "\n" + vnodes.text();
  }
  if (moves_.empty()) return text;
  std::vector<double> ways;
  std::uint64_t moved = 0;
  for (const Move& move : moves_) {
    moved += move.vnodes;
    ways.push_back(move.came - move.left);
  }
  return text + "\n" + std::to_string(moved) + (moved == 1 ? " vnode" : " vnodes") +
         " moved, in the middle " + spell_short(median(ways)) + " on the way, at most " +
         spell_short(*std::ranges::max_element(ways)) + "\n";
}

std::string JobReport::json(const std::string& title) const {
  nlohmann::ordered_json whole;
  whole["title"] = title;
  whole["seconds"] = length_;
  for (const auto& [id, process] : processes_) {
    const Stretch total = process.total();
    nlohmann::ordered_json one{{"processor", to_string(id)},
                               {"begin", process.begin},
                               {"end", process.end},
                               {"has_ended", process.has_ended},
                               {"vnodes", to_string(process.held)},
                               {"messages", total.messages},
                               {"bytes", total.bytes},
                               {"waited", total.waited},
                               {"came", process.came},
                               {"left", process.left}};
    one["pauses"] = nlohmann::json::array();
    for (const Pause& pause : process.pauses) one["pauses"].push_back({pause.begin, pause.took});
    one["stretches"] = nlohmann::json::array();
    for (const Stretch& s : process.stretches) {
      one["stretches"].push_back({s.begin, s.end, s.messages, s.bytes, s.waited});
    }
    whole["processes"].push_back(std::move(one));
  }
  whole["moves"] = nlohmann::json::array();
  for (const Move& move : moves_) {
    whole["moves"].push_back({{"from", to_string(move.from)},
                              {"to", to_string(move.to)},
                              {"left", move.left},
                              {"came", move.came},
                              {"first", move.first.value},
                              {"vnodes", move.vnodes}});
  }
  whole["vnodes"] = nlohmann::json::array();
  for (const auto& [id, vnode] : vnodes_) {
    whole["vnodes"].push_back({{"vnode", id.value},
                               {"messages", vnode.messages},
                               {"bytes", vnode.bytes},
                               {"moves", vnode.moves},
                               {"waited", vnode.waited}});
  }
  // Who named the job may not have written UTF-8.
  return whole.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace phx::app
