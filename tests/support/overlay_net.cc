#include "tests/support/overlay_net.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"

namespace phx::overlay {
namespace {

constexpr std::size_t kPast = 500;

}  // namespace

OverlayNet::OverlayNet(const OverlayNetOptions& options) : options_(options), rng_(options.seed) {}

void OverlayNet::start() {
  std::uint32_t id = 0;
  std::uint32_t site = 0;
  for (const std::uint32_t size : options_.sites) {
    for (std::uint32_t i = 0; i < size; ++i) join(ProcessorId{++id}, site);
    ++site;
  }
}

void OverlayNet::join(ProcessorId id, std::uint32_t site) {
  Member member;
  member.site = site;
  member.forest = std::make_unique<TreeForest>(id, options_.forest, rng_.next());
  member.known = {id};
  members_.emplace(id, std::move(member));
  live_.insert(id);
  for (const ProcessorId other : live_.ids()) {
    if (other != id) put(now_, News{id, other, true});
  }
  tell_all(id, true);
}

void OverlayNet::leave(ProcessorId id) {
  TreeForest::Outbox out;
  members_.at(id).forest->leave(now_, out);
  pump(id, out);
  live_.erase(id);
  tell_all(id, false);
}

void OverlayNet::use(ProcessorId root) {
  TreeForest::Outbox out;
  members_.at(root).forest->use(now_, tree_of(root), out);
  pump(root, out);
}

void OverlayNet::run_for(Duration time) {
  const Instant end = now_ + time;
  while (!queue_.empty() && queue_.begin()->first.first <= end) step();
  now_ = end;
}

bool OverlayNet::settles_within(Duration limit) {
  const Instant end = now_ + limit;
  const auto is_nothing = [this](const Step& s) {
    const auto* fire = std::get_if<Fire>(&s);
    if (fire == nullptr) return false;
    const auto& timers = members_.at(fire->at).timers;
    const auto set = timers.find(fire->timer);
    const bool stopped = set == timers.end() || set->second.second != fire->serial;
    return stopped || fire->timer.kind == TreeForest::Timer::Kind::kIdle;
  };
  const auto is_settled = [&] {
    return std::all_of(queue_.begin(), queue_.end(),
                       [&](const auto& q) { return is_nothing(q.second); });
  };
  while (!is_settled()) {
    for (std::size_t i = queue_.size(); i > 0 && !queue_.empty(); --i) {
      if (is_nothing(queue_.begin()->second)) break;
      if (queue_.begin()->first.first > end) return false;
      step();
    }
    while (!queue_.empty() && is_nothing(queue_.begin()->second)) {
      if (is_settled()) return true;
      if (queue_.begin()->first.first > end) return false;
      step();
    }
  }
  return true;
}

void OverlayNet::replay_one() {
  if (past_.empty()) return;
  put(now_, past_[static_cast<std::size_t>(rng_.below(past_.size()))]);
}

bool OverlayNet::same_site(ProcessorId a, ProcessorId b) const {
  return members_.at(a).site == members_.at(b).site;
}

ProcessorSet OverlayNet::connected(ProcessorId root) const {
  ProcessorSet result;
  for (const ProcessorId id : live_.ids()) {
    std::optional<ProcessorId> next = id;
    while (next && *next != root && live_.contains(*next)) next = parent(*next, tree_of(root));
    if (next && *next == root && live_.contains(root)) result.insert(id);
  }
  return result;
}

std::size_t OverlayNet::wan_edges(ProcessorId root) const {
  std::size_t count = 0;
  for (const ProcessorId id : live_.ids()) {
    const std::optional<ProcessorId> above = parent(id, tree_of(root));
    if (above && !same_site(id, *above)) ++count;
  }
  return count;
}

std::size_t OverlayNet::wan_depth(ProcessorId root) const {
  std::size_t most = 0;
  for (const ProcessorId id : live_.ids()) {
    std::size_t depth = 0;
    std::optional<ProcessorId> next = id;
    while (next) {
      const std::optional<ProcessorId> above = parent(*next, tree_of(root));
      if (above && !same_site(*next, *above)) ++depth;
      next = above;
    }
    most = std::max(most, depth);
  }
  return most;
}

bool OverlayNet::sets_are_exact(ProcessorId root) const {
  for (const ProcessorId id : live_.ids()) {
    const TreeView* view = at(id).view(tree_of(root));
    if (view == nullptr) return false;
    ProcessorSet pointing;
    for (const ProcessorId other : live_.ids()) {
      if (parent(other, tree_of(root)) == id) pointing.insert(other);
    }
    ProcessorSet listed;
    for (const TreeChild& child : view->children) {
      listed.insert(child.id);
      if (child.below != below(child.id, tree_of(root))) return false;
    }
    if (listed != pointing) return false;
  }
  return true;
}

Duration OverlayNet::delay(ProcessorId a, ProcessorId b) {
  const Duration base = same_site(a, b) ? options_.lan : options_.wan;
  const double extra = static_cast<double>(base.count()) * options_.spread + 1;
  return base + Duration{static_cast<Duration::rep>(rng_.below(static_cast<std::uint64_t>(extra)))};
}

Duration OverlayNet::time_of(std::uint64_t bytes, ProcessorId at) const {
  const auto own = rates_.find(at);
  const std::uint64_t rate = own == rates_.end() ? options_.rate : own->second;
  if (rate == 0) return Duration{};
  return Duration{
      static_cast<Duration::rep>(static_cast<double>(bytes) * 1e9 / static_cast<double>(rate))};
}

/// Through one interface, over the way, through the other one.
Instant OverlayNet::arrival(ProcessorId from, ProcessorId to, std::uint64_t bytes) {
  const Duration way = delay(from, to);
  if (bytes == 0) return now_ + way;
  Instant& out = out_free_[from];
  out = std::max(out, now_) + time_of(bytes, from);
  Instant sent = out;
  if (options_.wan_rate != 0 && !same_site(from, to)) {
    Instant& free = way_free_[{members_.at(from).site, members_.at(to).site}];
    const double seconds = static_cast<double>(bytes) / static_cast<double>(options_.wan_rate);
    sent = free = std::max(free, sent) + Duration{static_cast<Duration::rep>(seconds * 1e9)};
  }
  Instant& in = in_free_[to];
  in = std::max(in, sent + way) + time_of(bytes, to);
  return in;
}

void OverlayNet::tell_all(ProcessorId about, bool joined) {
  const auto latest = static_cast<std::uint64_t>(options_.news.count()) + 1;
  for (const ProcessorId other : live_.ids()) {
    if (other == about) continue;
    put(now_ + Duration{static_cast<Duration::rep>(rng_.below(latest))},
        News{other, about, joined});
  }
}

void OverlayNet::step() {
  const auto first = queue_.begin();
  now_ = std::max(now_, first->first.first);
  const Step step = std::move(first->second);
  queue_.erase(first);
  std::visit([&](const auto& s) { take(s); }, step);
}

void OverlayNet::take(const Deliver& step) {
  Member& to = members_.at(step.to);
  if (to.departed.contains(step.from)) return;
  TreeForest::Outbox out;
  to.forest->on_message(now_, step.from, step.message, out);
  pump(step.to, out);
}

void OverlayNet::take(const Fire& step) {
  Member& member = members_.at(step.at);
  const auto timer = member.timers.find(step.timer);
  if (timer == member.timers.end() || timer->second.second != step.serial) return;
  member.timers.erase(timer);
  TreeForest::Outbox out;
  member.forest->on_timer(now_, step.timer, out);
  pump(step.at, out);
}

void OverlayNet::take(const News& step) {
  Member& member = members_.at(step.at);
  if (step.joined && !member.departed.contains(step.about)) member.known.insert(step.about);
  if (!step.joined) {
    member.known.erase(step.about);
    member.departed.insert(step.about);
  }
  TreeForest::Outbox out;
  member.forest->on_members(now_, member.known, out);
  pump(step.at, out);
}

void OverlayNet::pump(ProcessorId id, TreeForest::Outbox& out) {
  Member& member = members_.at(id);
  for (auto& item : out.take()) {
    if (auto* send = std::get_if<TreeForest::Outbox::Send>(&item)) {
      PHX_CHECK(send->to != id && send->to != kNobody);
      if (!members_.contains(send->to) || member.departed.contains(send->to)) continue;
      ++sent_;
      if (std::holds_alternative<Probe>(send->message)) ++probes_;
      const auto* load = std::get_if<Load>(&send->message);
      const std::uint64_t bytes = load == nullptr ? 0 : load->bytes.size();
      loaded_ += bytes;
      if (std::holds_alternative<Fetch>(send->message)) ++fetches_;
      Instant& last = last_[{id, send->to}];
      last = std::max(last, arrival(id, send->to, bytes));
      const Deliver deliver{id, send->to, std::move(send->message)};
      if (past_.size() < kPast) past_.push_back(deliver);
      past_[static_cast<std::size_t>(rng_.below(past_.size()))] = deliver;
      put(last, deliver);
    } else if (const auto* arm = std::get_if<TreeForest::Outbox::Arm>(&item)) {
      member.timers.erase(arm->timer);
      if (!arm->at) continue;
      member.timers[arm->timer] = {*arm->at, serial_ + 1};
      put(std::max(*arm->at, now_), Fire{id, arm->timer, serial_ + 1});
    }
  }
  check(id);
}

void OverlayNet::check(ProcessorId id) const {
  const TreeForest& forest = at(id);
  forest.check_invariants();
  for (const auto& [root, member] : members_) {
    for (const TreeKind kind : {TreeKind::kLatency, TreeKind::kBandwidth}) {
      const TreeId tree{root, kind};
      if (forest.view(tree) == nullptr) continue;
      std::optional<ProcessorId> next = parent(id, tree);
      for (std::size_t hops = 0; next; ++hops) {
        PHX_CHECK(*next != id && hops <= members_.size());  // a cycle of parent pointers
        next = parent(*next, tree);
      }
    }
  }
}

std::map<ProcessorId, std::size_t> OverlayNet::children_of(ProcessorId root) const {
  std::map<ProcessorId, std::size_t> children;
  for (const ProcessorId id : live_.ids()) {
    children.try_emplace(id, 0);
    if (const auto above = parent(id, tree_of(root))) ++children[*above];
  }
  return children;
}

std::size_t OverlayNet::most_children(ProcessorId root) const {
  std::size_t most = 0;
  for (const auto& [id, count] : children_of(root)) most = std::max(most, count);
  return most;
}

std::size_t OverlayNet::leaves(ProcessorId root) const {
  const auto children = children_of(root);
  return static_cast<std::size_t>(std::count_if(children.begin(), children.end(),
                                                [](const auto& of) { return of.second == 0; }));
}

std::optional<ProcessorId> OverlayNet::parent(ProcessorId id, TreeId tree) const {
  const auto member = members_.find(id);
  if (member == members_.end()) return std::nullopt;
  const AdaptiveTree* known = member->second.forest->tree(tree);
  return known == nullptr ? std::nullopt : known->parent();
}

ProcessorSet OverlayNet::below(ProcessorId id, TreeId tree) const {
  ProcessorSet all{id};
  for (const ProcessorId other : live_.ids()) {
    std::optional<ProcessorId> next = parent(other, tree);
    while (next && *next != id) next = parent(*next, tree);
    if (next) all.insert(other);
  }
  return all;
}

OverlayNet measured_net(const OverlayNetOptions& options) {
  OverlayNet net(options);
  net.start();
  REQUIRE(net.settles_within(10s));
  return net;
}

void check_complete(const OverlayNet& net, ProcessorId root) {
  CHECK(net.connected(root) == net.live());
  CHECK(net.sets_are_exact(root));
}

}  // namespace phx::overlay
