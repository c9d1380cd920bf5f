#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/mesh/shown_tree.h"
#include "apps/phoenix/mesh/verbs.h"
#include "apps/phoenix/texts/amounts.h"

namespace phx::app {
namespace {

using nlohmann::json;

struct TreesOptions {
  std::string mesh = "default";
  std::string root;
  std::string bytes = "1";
  bool dot = false;
  bool json = false;
  std::string svg;
};

struct Asked {
  std::vector<ShownTree> trees;
  ProcessorId root;
  std::vector<ProcessorId> silent;
};

/// The trees that collectives of the root take now, as all daemons know them.
Result<Asked> ask_trees(const TreesOptions& options, std::uint64_t bytes) {
  auto session = connect(options.mesh);
  if (!session.ok()) return session.error();
  const auto status = ask_status(session.value(), /*ask_all=*/false);
  if (!status.ok()) return status.error();
  const runtime::View& view = status.value().view;
  Asked asked;
  asked.root = view.members.first();
  if (!options.root.empty()) {
    const auto found = find_processors(view, {options.root}, options.mesh);
    if (!found.ok()) return found.error();
    if (found.value().size() != 1) {
      return Error{ErrorCode::kBadInput,
                   "there are several processors at " + options.root + "; name one, like p3"};
    }
    asked.root = found.value().front();
  }
  const auto network = ask<overlay::NetworkUpdate>(session.value(), runtime::NetworkRequest{}, 15s);
  if (!network.ok()) return network.error();
  const runtime::StatusRequest request{true, {}, {asked.root, size_class(bytes)}};
  const auto reply = ask<runtime::StatusReply>(session.value(), request, 15s);
  if (!reply.ok()) return reply.error();
  asked.silent = reply.value().silent;
  if (network.value().network.check().ok()) {
    asked.trees = shown_trees(reply.value(), network.value().network);
  }
  return asked;
}

json as_json(const ShownTree& tree) {
  json edges = json::array();
  for (const ShownTree::Edge& edge : tree.edges) {
    edges.push_back({{"from", edge.from.value},
                     {"to", edge.to.value},
                     {"latency_ms", edge.latency ? json(to_ms(*edge.latency)) : json()},
                     {"bytes_per_second", edge.rate ? json(*edge.rate) : json()},
                     {"agreed", !edge.other_above}});
  }
  json missing = json::array();
  for (const ProcessorId processor : tree.missing) missing.push_back(processor.value);
  return {{"tree", spell(tree.id)}, {"root", tree.id.root.value}, {"number", tree.id.number},
          {"depth", tree.depth()},  {"edges", std::move(edges)},  {"missing", std::move(missing)}};
}

/// "FILE" of several trees becomes "FILE-1.svg", "FILE-2.svg".
Status write_svg(const std::string& path, const std::vector<ShownTree>& trees) {
  for (std::size_t i = 0; i < trees.size(); ++i) {
    std::string name = path;
    if (trees.size() > 1) {
      const std::size_t dot = path.rfind(".svg");
      name.insert(dot == std::string::npos ? path.size() : dot, "-" + std::to_string(i + 1));
    }
    std::ofstream file(name);
    file << trees[i].svg();
    file.close();
    if (!file) return Error{ErrorCode::kDenied, "cannot write " + name};
    std::fprintf(stderr, "phoenix: %s is in %s\n", spell(trees[i].id).c_str(), name.c_str());
  }
  return success();
}

void print(const TreesOptions& options, const Asked& asked) {
  json list = json::array();
  for (const ShownTree& tree : asked.trees) {
    if (options.json) {
      list.push_back(as_json(tree));
    } else if (options.dot) {
      std::printf("%s", tree.dot().c_str());
    } else {
      std::printf("%s: %zu edges, depth %zu\n%s", spell(tree.id).c_str(), tree.edges.size(),
                  tree.depth(), tree.text().c_str());
    }
  }
  if (options.json) std::printf("%s\n", list.dump(2).c_str());
}

int trees(const TreesOptions& options) {
  const auto bytes = parse_size(options.bytes);
  if (!bytes) {
    return fail("not a size like 100, 64K or 4M (at most 1024M): " + options.bytes, kUsage);
  }
  const auto asked = ask_trees(options, *bytes);
  if (!asked.ok()) return fail(asked.error().what);
  for (const ProcessorId processor : asked.value().silent) {
    std::fprintf(stderr, "phoenix: %s does not answer\n", to_string(processor).c_str());
  }
  if (asked.value().trees.empty()) {
    return fail("nobody knows a tree of " + to_string(asked.value().root) +
                ": with --trees adaptive there is one when it has been used");
  }
  if (!options.svg.empty()) {
    const Status status = write_svg(options.svg, asked.value().trees);
    return status.ok() ? kOk : fail(status.error().what, kUsage);
  }
  print(options, asked.value());
  return kOk;
}

}  // namespace

void add_trees(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<TreesOptions>();
  const options::Parser verb = tool.add_subcommand(
      "trees", "The tree that a processor's broadcasts take now, as all know it");
  add_mesh_option(verb, options->mesh);
  verb.add_option("PROCESSOR", options->root, "Whose: p3, 3 or a machine's name (default: first)");
  verb.add_option("--bytes", options->bytes, "Of messages of this size: 100, 64K, 4M")
      .capture_default_str();
  const auto dot = verb.add_flag("--dot", options->dot, "For Graphviz");
  const auto json = verb.add_flag("--json", options->json, "Machine-readable").excludes(dot);
  verb.add_option("--svg", options->svg, "Write a picture into this file; one each of several")
      .excludes(dot)
      .excludes(json);
  verb.footer(
      "Each processor below its parent, in the order in which it is served, with the one-way\n"
      "latency and the bandwidth that the mesh has measured between the two. Reductions take the\n"
      "same tree backwards. Long messages take several in turns.\n"
      "Examples:\n"
      "  phoenix trees\n"
      "  phoenix trees p3 --bytes 4M\n"
      "  phoenix trees --dot | dot -Tpng > tree.png\n"
      "Exit code 0; 1: no mesh, or no such tree; 2: misuse.");
  verb.callback([&chosen, options] { chosen = [options] { return trees(*options); }; });
}

}  // namespace phx::app
