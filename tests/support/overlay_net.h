#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "overlay/base/rng.h"
#include "overlay/tree_forest.h"

namespace phx::overlay {

/// What a net is like. Site s has processors numbered on from those of site s-1, from 1.
struct OverlayNetOptions {
  std::vector<std::uint32_t> sites;
  Duration lan = 50us;                 ///< One way.
  Duration wan = 10ms;                 ///< One way.
  double spread = 0.1;                 ///< A message takes up to this share longer, at random.
  TreeKind kind = TreeKind::kLatency;  ///< Of the trees that are used and looked at.
  /// Of every interface, bytes per second, both ways; 0: nothing is held up. Only downloads are
  /// long enough to be.
  std::uint64_t rate = 0;
  std::uint64_t wan_rate = 0;  ///< Of the way from one site to another.
  Duration news = 30ms;  ///< Everybody hears of a change of the members up to this much later.
  std::uint64_t seed = 1;
  TreeForestOptions forest{};
};

/// Forests joined by a network in one queue: FIFO per pair, random order across pairs, members
/// heard of at different times. After every step the processor concerned is checked, and that no
/// parent pointers of a tree form a cycle.
class OverlayNet {
 public:
  explicit OverlayNet(const OverlayNetOptions& options);

  // What happens to the net.
  /// All processors of all sites, at once.
  void start();
  void join(ProcessorId id, std::uint32_t site);
  void leave(ProcessorId id);
  void use(ProcessorId root);
  void run_for(Duration time);
  /// The interface of one processor is as wide as this.
  void set_rate(ProcessorId id, std::uint64_t rate) { rates_[id] = rate; }
  /// Until nothing is on its way and no timer but those of idle trees is set. False: not within
  /// `limit`.
  [[nodiscard]] bool settles_within(Duration limit);
  /// A message that somebody sent at some time comes again, out of any order.
  void replay_one();

  // What it looks like.
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const ProcessorSet& live() const { return live_; }
  [[nodiscard]] const TreeForest& at(ProcessorId id) const { return *members_.at(id).forest; }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t probes() const { return probes_; }
  /// Bytes, and requests for some, of downloads.
  [[nodiscard]] std::uint64_t loaded() const { return loaded_; }
  [[nodiscard]] std::uint64_t fetches() const { return fetches_; }
  /// Of the pointers of live processors.
  [[nodiscard]] std::optional<ProcessorId> parent(ProcessorId id, ProcessorId root) const {
    return parent(id, tree_of(root));
  }
  /// Most children of one processor, and the processors without any.
  [[nodiscard]] std::size_t most_children(ProcessorId root) const;
  [[nodiscard]] std::size_t leaves(ProcessorId root) const;
  [[nodiscard]] bool same_site(ProcessorId a, ProcessorId b) const;
  /// Live processors that are the root or are connected, along pointers of live ones.
  [[nodiscard]] ProcessorSet connected(ProcessorId root) const;
  [[nodiscard]] std::size_t wan_edges(ProcessorId root) const;
  /// Most long edges between the root and any processor.
  [[nodiscard]] std::size_t wan_depth(ProcessorId root) const;
  /// Whether every processor's view of its children is what the parent pointers say, all the way
  /// down.
  [[nodiscard]] bool sets_are_exact(ProcessorId root) const;

 private:
  struct Member {
    std::uint32_t site = 0;
    std::unique_ptr<TreeForest> forest;
    ProcessorSet known;     ///< Its view of who is there.
    ProcessorSet departed;  ///< Those it knows to have left.
    std::map<TreeForest::Timer, std::pair<Instant, std::uint64_t>> timers;
  };
  struct Deliver {
    ProcessorId from;
    ProcessorId to;
    Message message;
  };
  struct Fire {
    ProcessorId at;
    TreeForest::Timer timer;
    std::uint64_t serial;
  };
  struct News {
    ProcessorId at;
    ProcessorId about;
    bool joined;
  };
  using Step = std::variant<Deliver, Fire, News>;

  [[nodiscard]] TreeId tree_of(ProcessorId root) const { return {root, options_.kind}; }
  [[nodiscard]] std::map<ProcessorId, std::size_t> children_of(ProcessorId root) const;
  [[nodiscard]] Duration delay(ProcessorId a, ProcessorId b);
  [[nodiscard]] Duration time_of(std::uint64_t bytes, ProcessorId at) const;
  [[nodiscard]] Instant arrival(ProcessorId from, ProcessorId to, std::uint64_t bytes);
  void put(Instant at, Step step) { queue_.insert({{at, ++serial_}, std::move(step)}); }
  void tell_all(ProcessorId about, bool joined);
  void step();
  void take(const Deliver& step);
  void take(const Fire& step);
  void take(const News& step);
  void pump(ProcessorId id, TreeForest::Outbox& out);
  void check(ProcessorId id) const;
  [[nodiscard]] std::optional<ProcessorId> parent(ProcessorId id, TreeId tree) const;
  [[nodiscard]] ProcessorSet below(ProcessorId id, TreeId tree) const;

  OverlayNetOptions options_;
  Rng rng_;
  Instant now_{};
  std::map<ProcessorId, Member> members_;  ///< Those who left too.
  ProcessorSet live_;
  std::map<std::pair<Instant, std::uint64_t>, Step> queue_;
  std::map<std::pair<ProcessorId, ProcessorId>, Instant> last_;  ///< Last arrival per pair.
  std::vector<Deliver> past_;  ///< Some of what was sent, for replay_one().
  std::uint64_t serial_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t probes_ = 0;
  std::uint64_t loaded_ = 0;
  std::uint64_t fetches_ = 0;
  std::map<ProcessorId, std::uint64_t> rates_;  ///< Where it is not the usual one.
  std::map<ProcessorId, Instant> out_free_;     ///< When an interface has sent, ...
  std::map<std::pair<std::uint32_t, std::uint32_t>, Instant> way_free_;
  std::map<ProcessorId, Instant> in_free_;  ///< or taken, all that was given to it.
};

/// A started net of which everybody has measured the neighbours.
[[nodiscard]] OverlayNet measured_net(const OverlayNetOptions& options);
/// All that live are in the tree, and everybody knows who is below.
void check_complete(const OverlayNet& net, ProcessorId root);

}  // namespace phx::overlay
