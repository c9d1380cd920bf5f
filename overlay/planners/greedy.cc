#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "overlay/planners/shapes.h"

namespace phx::planners {
namespace {

/// Who may send next: when it is free, and its position.
using Sender = std::pair<Duration, std::size_t>;

/// Processors that nothing distinguishes, so it does not matter which of them is served.
struct Kind {
  std::vector<std::size_t> waiting;  ///< The last one is served next.
  std::vector<Sender> senders;       ///< Have the message, or get it at that time. A heap.

  [[nodiscard]] const Sender& first() const { return senders.front(); }
  void add(const Sender& sender) {
    senders.push_back(sender);
    std::push_heap(senders.begin(), senders.end(), std::greater<>());
  }
  void remove_first() {
    std::pop_heap(senders.begin(), senders.end(), std::greater<>());
    senders.pop_back();
  }
};

/// Serves one kind of processors after the other, each time from wherever it is reached first. At
/// the end each kind completes itself: with equal costs inside, "who is free first sends" is the
/// optimum [Karp93].
class Greedy {
 public:
  /// Whose turn it is.
  enum class Turn {
    kLatest,    ///< Of the kind that would be complete last, until no other kind can help it.
    kEarliest,  ///< Of whoever is reached first [Bhat03].
    kFastest    ///< Of the least overhead, from whoever reaches it first [Banikazemi98].
  };

  Greedy(const Task& task, Turn turn)
      : task_(task),
        costs_(task.costs),
        turn_(turn),
        kinds_(task.costs.classes()),
        finish_(kinds_.size()) {
    for (std::size_t i = costs_.size(); i-- > 0;) {
      if (i != task.root) kinds_[costs_.class_of(i)].waiting.push_back(i);
    }
    kinds_[costs_.class_of(task.root)].add({Duration{}, task.root});
  }

  Links run() {
    while (const auto offer = turn_ == Turn::kLatest ? latest() : first()) accept(*offer);
    for (Kind& kind : kinds_) complete(kind);
    return std::move(links_);
  }

 private:
  /// Of one kind to another one, or of one to itself.
  struct Offer {
    std::size_t from = 0;
    std::size_t to = 0;
    Duration arrival = kForever;
  };
  using Way = std::pair<std::size_t, std::size_t>;

  /// Empty: nobody can help whoever would be complete last.
  [[nodiscard]] std::optional<Offer> latest() {
    Duration latest = Duration::min();
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      if (!kinds_[kind].waiting.empty()) latest = std::max(latest, finish(kind));
    }
    std::optional<Offer> chosen;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      if (kinds_[kind].waiting.empty() || finish(kind) != latest) continue;
      const Offer offer = best_offer(kind);
      // Of those that nobody has reached, the farthest one first.
      if (!chosen || offer.arrival > chosen->arrival) chosen = offer;
    }
    if (!chosen || chosen->arrival >= latest) return std::nullopt;
    return chosen;
  }

  /// Empty: everybody is served.
  [[nodiscard]] std::optional<Offer> first() const {
    std::optional<Offer> chosen;
    Duration least = kForever;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      if (kinds_[kind].waiting.empty()) continue;
      const bool is_by_speed = turn_ == Turn::kFastest;
      const Duration overhead =
          is_by_speed ? costs_.overhead(kinds_[kind].waiting.back()) : Duration{};
      if (overhead > least) continue;
      const Offer offer = best_offer(kind);
      if (chosen && overhead == least && offer.arrival >= chosen->arrival) continue;
      chosen = offer;
      least = overhead;
    }
    return chosen;
  }

  [[nodiscard]] Offer best_offer(std::size_t to) const {
    Offer best;
    for (std::size_t from = 0; from < kinds_.size(); ++from) {
      const bool is_own = from == to && turn_ == Turn::kLatest;  // It does that at the end.
      if (is_own || kinds_[from].senders.empty()) continue;
      const auto [free, sender] = kinds_[from].first();
      const std::size_t receiver = kinds_[to].waiting.back();
      const Duration arrival =
          free + wait(free, sender, receiver) + costs_.transfer(sender, receiver, task_.bytes);
      if (arrival < best.arrival) best = {from, to, arrival};
    }
    return best;
  }

  /// Until the way between two sites, which all share, is free.
  [[nodiscard]] Duration wait(Duration free, std::size_t from, std::size_t to) const {
    const auto way = ways_free_.find({costs_.site(from), costs_.site(to)});
    if (way == ways_free_.end()) return Duration{};
    return std::max(Duration{}, way->second - reaches_way(free, from));
  }
  [[nodiscard]] Duration reaches_way(Duration free, std::size_t from) const {
    const std::uint64_t first = std::min(task_.bytes, kNetworkSegment);
    return free + costs_.overhead(from) + wire_time(first, costs_.out(from));
  }

  void accept(const Offer& offer) {
    const auto [free, sender] = kinds_[offer.from].first();
    const std::size_t receiver = kinds_[offer.to].waiting.back();
    if (costs_.site(sender) != costs_.site(receiver)) {
      ways_free_[{costs_.site(sender), costs_.site(receiver)}] =
          reaches_way(free, sender) + wait(free, sender, receiver) +
          wire_time(task_.bytes, costs_.rate(sender, receiver));
    }
    send(kinds_[offer.from], kinds_[offer.to], offer.arrival);
    finish_[offer.from].reset();
    finish_[offer.to].reset();
  }

  /// The first sender of one kind to the next of another.
  void send(Kind& from, Kind& to, Duration arrival) {
    const auto [free, sender] = from.first();
    const std::size_t receiver = to.waiting.back();
    links_.emplace_back(sender, receiver);
    from.remove_first();
    from.add({free + costs_.busy(sender, task_.bytes), sender});
    to.waiting.pop_back();
    to.add({arrival + costs_.wait(receiver), receiver});
  }

  void complete(Kind& kind) {
    while (!kind.waiting.empty()) {
      const auto [free, sender] = kind.first();
      send(kind, kind, free + costs_.transfer(sender, kind.waiting.back(), task_.bytes));
    }
  }

  /// When the kind is complete if nobody else helps it any more.
  [[nodiscard]] Duration finish(std::size_t which) {
    if (!finish_[which]) finish_[which] = simulate(kinds_[which]);
    return *finish_[which];
  }

  [[nodiscard]] Duration simulate(const Kind& kind) const {
    if (kind.senders.empty()) return kForever;
    const std::size_t any = kind.first().second;
    const Duration busy = costs_.busy(any, task_.bytes);
    const Duration transfer = costs_.transfer(any, kind.waiting.back(), task_.bytes);
    const Duration until_passed_on = costs_.wait(kind.waiting.back());
    std::priority_queue<Duration, std::vector<Duration>, std::greater<>> free;
    for (const Sender& sender : kind.senders) free.push(sender.first);
    Duration last{};
    for (std::size_t i = 0; i < kind.waiting.size(); ++i) {
      const Duration begin = free.top();
      free.pop();
      last = begin + transfer;
      free.push(begin + busy);
      free.push(last + until_passed_on);
    }
    return last;
  }

  const Task& task_;
  const Costs& costs_;
  Turn turn_;
  std::vector<Kind> kinds_;
  std::vector<std::optional<Duration>> finish_;  ///< Empty: to be computed again.
  std::map<Way, Duration> ways_free_;
  Links links_;
};

bool has_unequal_overheads(const Costs& costs) {
  for (std::size_t i = 1; i < costs.size(); ++i) {
    if (costs.overhead(i) != costs.overhead(0)) return true;
  }
  return false;
}

}  // namespace

Plan plan_greedy(const Task& task) {
  // Latest first is right where many are alike, earliest first where all differ, fastest first
  // where what one message costs a processor does.
  std::vector<Greedy::Turn> turns = {Greedy::Turn::kLatest, Greedy::Turn::kEarliest};
  if (has_unequal_overheads(task.costs)) turns.push_back(Greedy::Turn::kFastest);
  Links best;
  Duration least = kForever;
  for (const Greedy::Turn turn : turns) {
    Links links = Greedy(task, turn).run();
    const Duration time = predicted(task, {links}, 0);
    if (time >= least) continue;
    least = time;
    best = std::move(links);
  }
  return tree_plan(task, "greedy", {best}, /*cut=*/false);
}

}  // namespace phx::planners
