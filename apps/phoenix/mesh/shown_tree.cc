#include "apps/phoenix/mesh/shown_tree.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "apps/phoenix/mesh/network_text.h"

namespace phx::app {
namespace {

using overlay::KnownNetwork;
using runtime::StatusReply;
using runtime::TreeStatus;
using Known = std::map<ProcessorId, const TreeStatus*>;

/// Of the sender's interface, the way and the receiver's interface; empty: none of them is known.
std::optional<std::uint64_t> rate_of(const KnownNetwork& network, ProcessorId from,
                                     ProcessorId to) {
  std::vector<std::optional<std::uint64_t>> places{network.ability(from).out_bytes_per_second,
                                                   network.ability(to).in_bytes_per_second};
  if (network.site_of(from) != network.site_of(to)) {
    places.push_back(network.way(from, to).bytes_per_second);
  }
  std::erase(places, std::nullopt);
  if (places.empty()) return std::nullopt;
  return *std::min_element(places.begin(), places.end());
}

/// Follows a tree from its root. What one daemon knows of it may be of another moment than what
/// the next one knows, so nobody is visited twice.
class Walk {
 public:
  Walk(ShownTree& tree, const Known& known, const KnownNetwork& network)
      : tree_(tree), known_(known), network_(network) {}

  void visit(ProcessorId at) {
    const auto found = known_.find(at);
    if (found == known_.end()) return;
    for (const ProcessorId child : found->second->children) {
      if (child == tree_.id.root || !seen_.insert(child).second) continue;
      tree_.edges.push_back({at, child, network_.way(at, child).latency,
                             rate_of(network_, at, child), other_above(child, at)});
      visit(child);
    }
  }
  [[nodiscard]] const std::set<ProcessorId>& seen() const { return seen_; }

 private:
  [[nodiscard]] std::optional<ProcessorId> other_above(ProcessorId child, ProcessorId at) const {
    const auto found = known_.find(child);
    if (found == known_.end() || found->second->parent == at) return std::nullopt;
    return found->second->parent;
  }

  ShownTree& tree_;
  const Known& known_;
  const KnownNetwork& network_;
  std::set<ProcessorId> seen_;
};

std::string measured(const ShownTree::Edge& edge) {
  std::string text = spell_latency(edge.latency) + " ms, " + spell_rate(edge.rate) + " Mbit/s";
  if (edge.other_above) {
    text += edge.other_above == kNobody ? "; it knows no parent"
                                        : "; it says its parent is " + to_string(*edge.other_above);
  }
  return text;
}

}  // namespace

std::string spell(TreeId id) {
  constexpr std::array<std::string_view, 4> kKinds = {"adaptive latency", "adaptive bandwidth",
                                                      "planned", "learned"};
  return "the " + std::string(kKinds.at(static_cast<std::size_t>(id.kind))) + " tree of " +
         to_string(id.root) + ", number " + std::to_string(id.number);
}

std::vector<ShownTree> shown_trees(const StatusReply& reply, const KnownNetwork& network) {
  std::map<TreeId, Known> all;
  for (const auto& processor : reply.processors) {
    for (const TreeStatus& tree : processor.asked_trees) all[tree.tree][processor.id] = &tree;
  }
  std::vector<ShownTree> trees;
  for (const auto& [id, known] : all) {
    ShownTree& tree = trees.emplace_back();
    tree.id = id;
    Walk walk(tree, known, network);
    walk.visit(id.root);
    for (const auto& [processor, member] : reply.view.members) {
      const auto site = network.site_of(processor);
      tree.sites[processor] = site ? name_of(network, *site) : "";
      const bool is_missing = processor != id.root && !walk.seen().contains(processor);
      if (is_missing) tree.missing.push_back(processor);
    }
  }
  return trees;
}

std::map<ProcessorId, std::vector<const ShownTree::Edge*>> ShownTree::by_parent() const {
  std::map<ProcessorId, std::vector<const Edge*>> result;
  for (const Edge& edge : edges) result[edge.from].push_back(&edge);
  return result;
}

std::size_t ShownTree::depth() const {
  std::map<ProcessorId, std::size_t> depths{{id.root, 0}};
  std::size_t most = 0;
  for (const Edge& edge : edges) {
    depths[edge.to] = depths[edge.from] + 1;
    most = std::max(most, depths[edge.to]);
  }
  return most;
}

std::string ShownTree::text() const {
  std::map<ProcessorId, std::size_t> depths{{id.root, 0}};
  const auto label = [&](ProcessorId processor) {
    const auto site = sites.find(processor);
    const bool is_placed = site != sites.end() && !site->second.empty();
    return to_string(processor) + (is_placed ? " (" + site->second + ")" : "");
  };
  std::string text = label(id.root) + "\n";
  for (const Edge& edge : edges) {
    const std::size_t depth = depths[edge.to] = depths[edge.from] + 1;
    text += std::string(2 * depth, ' ') + label(edge.to) + "  " + measured(edge) + "\n";
  }
  for (const ProcessorId processor : missing) text += "not in it: " + label(processor) + "\n";
  return text;
}

std::string ShownTree::dot() const {
  std::map<std::string, std::vector<ProcessorId>> members;
  for (const auto& [processor, site] : sites) members[site].push_back(processor);
  std::string text = "digraph \"" + spell(id) + "\" {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const auto& [site, processors] : members) {
    if (!site.empty())
      text += "  subgraph \"cluster_" + site + "\" {\n    label=\"" + site + "\";\n";
    for (const ProcessorId processor : processors) {
      text += "    " + to_string(processor) + ";\n";
    }
    if (!site.empty()) text += "  }\n";
  }
  for (const Edge& edge : edges) {
    text += "  " + to_string(edge.from) + " -> " + to_string(edge.to) + " [label=\"" +
            spell_latency(edge.latency) + " ms\\n" + spell_rate(edge.rate) + " Mbit/s\"" +
            (edge.other_above ? ", style=dashed" : "") + "];\n";
  }
  return text + "}\n";
}

}  // namespace phx::app
