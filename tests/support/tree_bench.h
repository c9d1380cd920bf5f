#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "overlay/adaptive_tree.h"
#include "tests/support/sent.h"

namespace phx::overlay::support {

/// One processor's part of one adaptive tree, and what it knows of 40 processors that live.
struct TreeBench {
  TreeBench(ProcessorId self, TreeId id, const AdaptiveTreeOptions& options, Instant begin,
            std::uint64_t seed = 1)
      : now(begin), tree(self, id, options, 1, 100, Rng(seed)) {}

  [[nodiscard]] Horizon horizon() const { return {now, live, links, rates}; }
  template <class M>
  void receive(ProcessorId from, const M& m) {
    tree.on_message(horizon(), from, m, out);
    tree.check_invariants();
  }
  void probed(ProcessorId from, const TreeAdvert& advert) {
    tree.on_candidate(horizon(), from, advert, out);
    tree.check_invariants();
  }
  void join(ProcessorId proposed) { tree.join(horizon(), 1, proposed, out); }
  void fire(AdaptiveTree::Timer timer, Duration later = {}) {
    now += later;
    tree.on_timer(horizon(), timer, out);
    tree.check_invariants();
  }
  /// What was written and not taken by sent() yet.
  const std::vector<AdaptiveTree::Outbox::Item>& written() {
    for (auto& item : out.take()) items.push_back(std::move(item));
    return items;
  }
  /// The messages of kind M sent since the last call, with their receivers; other kinds stay.
  template <class M>
  std::vector<std::pair<ProcessorId, M>> sent() {
    return take_sent<M>(out, items);
  }
  /// To the one Attach that is in the air; who was asked.
  ProcessorId answer(bool accepted, const TreeAdvert& advert,
                     std::vector<ProcessorId> redirect = {}) {
    const auto attaches = sent<Attach>();
    REQUIRE(attaches.size() == 1);
    const auto& [asked, attach] = attaches[0];
    receive(asked, AttachReply{attach.attachment, accepted, advert, std::move(redirect)});
    return asked;
  }

  Instant now;
  ProcessorSet live = ProcessorSet::range(ProcessorId{1}, ProcessorId{40});
  LinkStats links;
  RateStats rates;
  AdaptiveTree tree;
  AdaptiveTree::Outbox out;
  std::vector<AdaptiveTree::Outbox::Item> items;
};

}  // namespace phx::overlay::support
