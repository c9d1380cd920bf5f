#include "overlay/mst/fragment_search.h"

#include <algorithm>
#include <variant>

#include "overlay/base/check.h"

namespace phx::mst {

FragmentSearch::FragmentSearch(ProcessorId self, const std::map<ProcessorId, Duration>& weights,
                               const std::set<ProcessorId>& branches)
    : self_(self) {
  for (const auto& [other, weight] : weights) {
    const EdgeKey key = edge_key(weight, self, other);
    edges_[other].key = key;
    order_.emplace_back(key, other);
  }
  std::sort(order_.begin(), order_.end());
  for (const ProcessorId other : branches) {
    PHX_CHECK(edges_.contains(other));
    become_branch(other);
  }
}

void FragmentSearch::become_branch(ProcessorId to) {
  edges_.at(to).state = EdgeState::kBranch;
  branches_.insert(to);
}

std::optional<ProcessorId> FragmentSearch::lightest_basic() {
  while (next_ < order_.size() && edges_.at(order_[next_].second).state != EdgeState::kBasic) {
    ++next_;
  }
  if (next_ == order_.size()) return std::nullopt;
  return order_[next_].second;
}

void FragmentSearch::start(Outbox& out) {
  if (edges_.empty()) return out.report(Final{1});
  if (branches_.empty()) {
    const ProcessorId lightest = *lightest_basic();
    become_branch(lightest);
    return out.send(lightest, Connect{0});
  }
  state_ = State::kReiden;
  if (branches_.size() > 1) return;
  rejoin_to_ = *branches_.begin();
  out.send(*rejoin_to_, Rejoin{});
}

void FragmentSearch::on_message(ProcessorId from, const SearchMessage& message, Outbox& out) {
  if (!edges_.contains(from)) return;
  constexpr std::size_t kPerEdge = 4;
  if (try_one(from, message, out)) return retry(out);
  if (waiting_.size() < kPerEdge * edges_.size()) waiting_.emplace_back(from, message);
}

bool FragmentSearch::try_one(ProcessorId from, const SearchMessage& message, Outbox& out) {
  return std::visit([&](const auto& m) { return handle(from, m, out); }, message);
}

/// Whatever was done may have been what others wait for. Each pass takes one out at least.
void FragmentSearch::retry(Outbox& out) {
  bool has_moved = true;
  while (has_moved && !waiting_.empty()) {
    has_moved = false;
    std::vector<std::pair<ProcessorId, SearchMessage>> again;
    again.swap(waiting_);
    for (auto& [from, message] : again) {
      if (try_one(from, message, out)) {
        has_moved = true;
      } else {
        waiting_.emplace_back(from, message);
      }
    }
  }
}

/// Where two meet who have told each other is the middle of the piece: its core.
bool FragmentSearch::handle(ProcessorId from, const Rejoin& /*m*/, Outbox& out) {
  if (!branches_.contains(from) || !rejoined_.insert(from).second) return true;
  if (rejoin_to_) {
    if (*rejoin_to_ == from) out.send(from, Initiate{1, edges_.at(from).key, true});
    return true;
  }
  if (rejoined_.size() + 1 < branches_.size()) return true;
  for (const ProcessorId other : branches_) {
    if (!rejoined_.contains(other)) rejoin_to_ = other;
  }
  out.send(*rejoin_to_, Rejoin{});
  return true;
}

bool FragmentSearch::handle(ProcessorId from, const Connect& m, Outbox& out) {
  if (m.level < level_) {  // A smaller fragment is taken in.
    become_branch(from);
    out.send(from, Initiate{level_, *fragment_, state_ == State::kFind});
    if (state_ == State::kFind) ++awaited_;
    return true;
  }
  if (edges_.at(from).state == EdgeState::kBasic) return false;
  out.send(from, Initiate{level_ + 1, edges_.at(from).key, true});
  return true;
}

bool FragmentSearch::handle(ProcessorId from, const Initiate& m, Outbox& out) {
  level_ = m.level;
  fragment_ = m.fragment;
  state_ = m.finds ? State::kFind : State::kFound;
  in_branch_ = from;
  best_edge_.reset();
  best_.reset();
  processors_ = 1;
  for (const ProcessorId other : branches_) {
    if (other == from) continue;
    out.send(other, m);
    if (m.finds) ++awaited_;
  }
  if (m.finds) test(out);
  return true;
}

void FragmentSearch::test(Outbox& out) {
  test_edge_ = lightest_basic();
  if (!test_edge_) return report(out);
  out.send(*test_edge_, Test{level_, *fragment_});
}

bool FragmentSearch::handle(ProcessorId from, const Test& m, Outbox& out) {
  if (m.level > level_) return false;
  if (fragment_ != m.fragment) {
    out.send(from, Accept{});
    return true;
  }
  Edge& edge = edges_.at(from);
  if (edge.state == EdgeState::kBasic) edge.state = EdgeState::kRejected;
  if (test_edge_ != from) {
    out.send(from, Reject{});
  } else {
    test(out);
  }
  return true;
}

void FragmentSearch::offer_best(ProcessorId to, const EdgeKey& key) {
  if (best_ && !(key < *best_)) return;
  best_edge_ = to;
  best_ = key;
}

bool FragmentSearch::handle(ProcessorId from, const Accept& /*m*/, Outbox& out) {
  if (test_edge_ != from) return true;
  test_edge_.reset();
  offer_best(from, edges_.at(from).key);
  report(out);
  return true;
}

bool FragmentSearch::handle(ProcessorId from, const Reject& /*m*/, Outbox& out) {
  if (test_edge_ != from) return true;
  Edge& edge = edges_.at(from);
  if (edge.state == EdgeState::kBasic) edge.state = EdgeState::kRejected;
  test(out);
  return true;
}

void FragmentSearch::report(Outbox& out) {
  if (awaited_ > 0 || test_edge_ || !in_branch_) return;
  state_ = State::kFound;
  out.send(*in_branch_, Report{best_, processors_});
}

bool FragmentSearch::handle(ProcessorId from, const Report& m, Outbox& out) {
  if (from != in_branch_) {
    if (awaited_ == 0) return true;
    --awaited_;
    processors_ += m.processors;
    if (m.best) offer_best(from, *m.best);
    report(out);
    return true;
  }
  if (state_ == State::kFind) return false;
  if (!m.best && !best_) {  // Both ends of the core see it; one of them says it.
    if (self_ < from) out.report(Final{processors_ + m.processors});
  } else if (best_ && (!m.best || *best_ < *m.best)) {
    change_root(out);
  }
  return true;
}

void FragmentSearch::change_root(Outbox& out) {
  if (edges_.at(*best_edge_).state == EdgeState::kBranch) {
    return out.send(*best_edge_, ChangeRoot{});
  }
  out.send(*best_edge_, Connect{level_});
  become_branch(*best_edge_);
}

bool FragmentSearch::handle(ProcessorId /*from*/, const ChangeRoot& /*m*/, Outbox& out) {
  if (best_edge_) change_root(out);
  return true;
}

}  // namespace phx::mst
