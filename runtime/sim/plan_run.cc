#include "runtime/sim/plan_run.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/rng.h"
#include "runtime/sim/post.h"

namespace phx::sim {
namespace {

using planners::Edge;
using planners::Plan;
using planners::PlannedTree;
using planners::Transfer;

/// Per processor and tree, whom it serves.
using Children = std::map<ProcessorId, std::vector<ProcessorId>>;

Children children_of(const PlannedTree& tree) {
  Children children;
  for (const Edge& edge : tree) children[edge.from].push_back(edge.to);
  return children;
}

PlanOutcome run_trees(const Plan& plan, Post& post) {
  const bool is_cut = plan.segment_bytes > 0 && plan.segment_bytes < plan.bytes;
  const std::uint64_t size = is_cut ? plan.segment_bytes : plan.bytes;
  const std::uint64_t segments = is_cut ? (plan.bytes + size - 1) / size : 1;
  std::vector<Children> children;
  for (const PlannedTree& tree : plan.trees) children.push_back(children_of(tree));
  const auto pass_on = [&](ProcessorId from, std::uint64_t segment) {
    const Children& tree = children[static_cast<std::size_t>(segment % children.size())];
    const auto found = tree.find(from);
    if (found == tree.end()) return;
    const std::uint64_t bytes = std::min(size, plan.bytes - segment * size);
    for (const ProcessorId child : found->second) post.send({from, child, bytes, segment});
  };
  for (std::uint64_t segment = 0; segment < segments; ++segment) pass_on(plan.root, segment);
  std::map<ProcessorId, std::uint64_t> received;
  post.run([&](const Post::Letter& letter) {
    if (++received[letter.to] == segments) post.outcome().arrivals[letter.to] = post.now();
    pass_on(letter.to, letter.content);
  });
  return post.outcome();
}

/// Each processor works off its transfers in their order.
class Schedule {
 public:
  Schedule(const Plan& plan, Post& post) : plan_(plan), post_(post) {
    for (std::size_t i = 0; i < plan.transfers.size(); ++i) {
      seats_[plan.transfers[i].from].sends.push_back(i);
    }
    seats_[plan.root].have = planners::byte_range(0, plan.bytes);
  }

  PlanOutcome run() {
    send_on(plan_.root);
    post_.run([this](const Post::Letter& letter) { on_letter(letter); });
    return post_.outcome();
  }

 private:
  struct Seat {
    planners::ByteSet have;
    std::vector<std::size_t> sends;
    std::size_t next = 0;  ///< Of `sends`.
  };

  void on_letter(const Post::Letter& letter) {
    const Transfer& transfer = plan_.transfers[static_cast<std::size_t>(letter.content)];
    Seat& seat = seats_[letter.to];
    const bool was_complete = seat.have.size() >= plan_.bytes && !seat.have.empty();
    seat.have = seat.have.united(planners::byte_range(transfer.offset, transfer.bytes));
    const bool is_complete = seat.have.size() >= plan_.bytes;
    if (is_complete && !was_complete) post_.outcome().arrivals[letter.to] = post_.now();
    send_on(letter.to);
  }

  void send_on(ProcessorId processor) {
    Seat& seat = seats_[processor];
    for (; seat.next < seat.sends.size(); ++seat.next) {
      const std::size_t number = seat.sends[seat.next];
      const Transfer& transfer = plan_.transfers[number];
      if (!seat.have.contains_all(planners::byte_range(transfer.offset, transfer.bytes))) return;
      post_.send({transfer.from, transfer.to, transfer.bytes, number});
    }
  }

  const Plan& plan_;
  Post& post_;
  std::map<ProcessorId, Seat> seats_;
};

/// Segments go up the trees; a segment leaves a processor when all below it in its tree have come.
class Backwards {
 public:
  Backwards(const Plan& plan, Post& post) : plan_(plan), post_(post) {
    const planners::PlanTrees trees = planners::trees_of(plan);
    const bool is_cut = trees.segment_bytes > 0 && trees.segment_bytes < plan.bytes;
    size_ = is_cut ? trees.segment_bytes : plan.bytes;
    segments_ = is_cut ? (plan.bytes + size_ - 1) / size_ : 1;
    for (const PlannedTree& tree : trees.trees) {
      std::map<ProcessorId, Seat>& seats = seats_.emplace_back();
      seats[plan.root];
      for (const Edge& edge : tree) {
        seats[edge.to].parent = edge.from;
        ++seats[edge.from].children;
      }
    }
  }

  PlanOutcome run() {
    for (std::uint64_t segment = 0; segment < segments_; ++segment) {
      for (const auto& [processor, seat] : tree_of(segment)) {
        if (seat.children == 0) pass_on(processor, segment);
      }
    }
    post_.run([this](const Post::Letter& letter) {
      const std::size_t wanted = tree_of(letter.content).at(letter.to).children;
      if (++heard_[{letter.to, letter.content}] == wanted) pass_on(letter.to, letter.content);
    });
    return post_.outcome();
  }

 private:
  struct Seat {
    ProcessorId parent = kNobody;
    std::size_t children = 0;
  };

  [[nodiscard]] const std::map<ProcessorId, Seat>& tree_of(std::uint64_t segment) const {
    return seats_[static_cast<std::size_t>(segment % seats_.size())];
  }
  /// It has all of the segment.
  void pass_on(ProcessorId processor, std::uint64_t segment) {
    heard_.erase({processor, segment});
    if (++complete_[processor] == segments_) post_.outcome().arrivals[processor] = post_.now();
    const ProcessorId parent = tree_of(segment).at(processor).parent;
    if (parent == kNobody) return;
    const std::uint64_t bytes = std::min(size_, plan_.bytes - segment * size_);
    post_.send({processor, parent, bytes, segment});
  }

  const Plan& plan_;
  Post& post_;
  std::uint64_t size_ = 0;
  std::uint64_t segments_ = 1;
  std::vector<std::map<ProcessorId, Seat>> seats_;  ///< Per tree.
  std::map<std::pair<ProcessorId, std::uint64_t>, std::size_t> heard_;
  std::map<ProcessorId, std::uint64_t> complete_;  ///< Segments.
};

ProcessorSet all_of(const overlay::Placing& placing) {
  return ProcessorSet::range(ProcessorId{1},
                             ProcessorId{static_cast<std::uint32_t>(placing.size())});
}

}  // namespace

Duration PlanOutcome::last() const {
  Duration last{};
  for (const auto& [processor, arrival] : arrivals) last = std::max(last, arrival);
  return last;
}

Duration PlanOutcome::mean() const {
  Duration sum{};
  for (const auto& [processor, arrival] : arrivals) sum += arrival;
  return arrivals.empty() ? sum : sum / static_cast<Duration::rep>(arrivals.size());
}

PlanOutcome run_broadcast(const Plan& plan, const overlay::Topology& topology,
                          const overlay::Placing& placing, const PlanRunOptions& options) {
  PHX_CHECK(planners::validate(plan, all_of(placing)).ok());
  Post post(topology, placing, options);
  return plan.transfers.empty() ? run_trees(plan, post) : Schedule(plan, post).run();
}

PlanOutcome run_reduction(const Plan& plan, const overlay::Topology& topology,
                          const overlay::Placing& placing, const PlanRunOptions& options) {
  PHX_CHECK(planners::validate(plan, all_of(placing)).ok());
  Post post(topology, placing, options);
  return Backwards(plan, post).run();
}

}  // namespace phx::sim
