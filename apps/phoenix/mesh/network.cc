#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/phoenix/mesh/network_text.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/mesh/verbs.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/network/known_network.h"

namespace phx::app {
namespace {

using overlay::KnownNetwork;
using overlay::NetworkUpdate;

struct NetworkOptions {
  std::string mesh = "default";
  bool topology = false;
  bool json = false;
};

std::string site_table(const KnownNetwork& network) {
  Table table({"SITE", "PROCESSORS", "INSIDE MS"});
  for (std::size_t i = 0; i < network.sites.size(); ++i) {
    const KnownNetwork::Site& site = network.sites[i];
    table.add({name_of(network, i), "p" + to_string(site.processors), spell_latency(site.latency)});
  }
  return table.text();
}

/// From the rows' sites to the columns'.
std::string way_table(const KnownNetwork& network, const std::string& title,
                      const std::function<std::string(const KnownNetwork::Way&)>& cell) {
  std::vector<std::string> titles = {title};
  for (std::size_t i = 0; i < network.sites.size(); ++i) titles.push_back(name_of(network, i));
  Table table(std::move(titles));
  for (std::size_t from = 0; from < network.sites.size(); ++from) {
    std::vector<std::string> cells = {name_of(network, from)};
    for (std::size_t to = 0; to < network.sites.size(); ++to) {
      const auto way = network.between.find({from, to});
      cells.push_back(way == network.between.end() ? (from == to ? "-" : "?") : cell(way->second));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string as_text(const std::string& mesh, const NetworkUpdate& update) {
  const KnownNetwork& network = update.network;
  const std::size_t sites = network.sites.size();
  std::string text = "mesh " + mesh + ": " + counted(network.processors().size(), "processor") +
                     " measured, " + counted(sites, "site") + "; put together by " +
                     to_string(update.version.author) + ", number " +
                     std::to_string(update.version.number) + "\n\n" + site_table(network);
  if (sites > 1) {
    text += "\n" + way_table(network, "MS FROM ROW TO COLUMN",
                             [](const auto& way) { return spell_latency(way.latency); });
    text += "\n" + way_table(network, "MBIT/S FROM ROW TO COLUMN",
                             [](const auto& way) { return spell_rate(way.bytes_per_second); });
  }
  text += "\nprocessors: " + ability_in_words(network.usual) + "\n";
  for (const auto& [processor, ability] : network.odd) {
    text +=
        "but " + to_string(processor) + ": " + ability_in_words(network.ability(processor)) + "\n";
  }
  return text;
}

nlohmann::json in_ms(const std::optional<Duration>& latency) {
  return latency ? nlohmann::json(to_ms(*latency)) : nlohmann::json();
}

nlohmann::json in_megabits(const std::optional<std::uint64_t>& rate) {
  const bool is_told = rate && rate != overlay::kUnlimited;
  return is_told ? nlohmann::json(megabits(*rate)) : nlohmann::json();
}

nlohmann::json as_json(const KnownNetwork::Ability& ability) {
  return {{"overhead_ms", in_ms(ability.overhead)},
          {"out_megabits", in_megabits(ability.out_bytes_per_second)},
          {"in_megabits", in_megabits(ability.in_bytes_per_second)},
          {"wait_ms", in_ms(ability.wait)}};
}

nlohmann::json as_json(const NetworkUpdate& update) {
  using nlohmann::json;
  const KnownNetwork& network = update.network;
  json result = {{"number", update.version.number}, {"author", update.version.author.value},
                 {"sites", json::array()},          {"between", json::array()},
                 {"usual", as_json(network.usual)}, {"odd", json::array()}};
  for (const KnownNetwork::Site& site : network.sites) {
    json processors = json::array();
    for (const ProcessorId processor : site.processors.ids()) processors.push_back(processor.value);
    result["sites"].push_back(
        {{"processors", std::move(processors)}, {"latency_ms", in_ms(site.latency)}});
  }
  for (const auto& [ends, way] : network.between) {
    result["between"].push_back({{"from", ends.first},
                                 {"to", ends.second},
                                 {"latency_ms", in_ms(way.latency)},
                                 {"megabits", in_megabits(way.bytes_per_second)}});
  }
  for (const auto& [processor, ability] : network.odd) {
    json one = as_json(ability);
    one["processor"] = processor.value;
    result["odd"].push_back(std::move(one));
  }
  return result;
}

int show(const NetworkOptions& options) {
  auto session = connect(options.mesh);
  if (!session.ok()) return fail(session.error().what);
  const auto update = ask<NetworkUpdate>(session.value(), runtime::NetworkRequest{}, 15s);
  if (!update.ok()) return fail(update.error().what);
  const KnownNetwork& network = update.value().network;
  if (const Status status = network.check(); !status.ok()) return fail(status.error().what);
  if (network.sites.empty()) {
    return fail("nothing is measured yet; ask again in a second (with one processor, never)");
  }
  std::string text;
  if (options.json) {
    text = as_json(update.value()).dump(2) + "\n";
  } else {
    text = options.topology ? as_topology(network) : as_text(options.mesh, update.value());
  }
  std::printf("%s", text.c_str());
  return kOk;
}

}  // namespace

void add_network(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<NetworkOptions>();
  const options::Parser verb =
      tool.add_subcommand("network", "What a mesh has measured: sites, latencies, bandwidths");
  add_mesh_option(verb, options->mesh);
  const auto topology = verb.add_flag("--topology", options->topology,
                                      "As a topology file, for phoenix plan --topology FILE");
  verb.add_flag("--json", options->json, "Machine-readable").excludes(topology);
  verb.footer(
      "Trees of broadcasts and reductions are drawn from these values. '?' is not measured yet;\n"
      "'10000+': that or more, which is not told apart.\n"
      "Examples:\n"
      "  phoenix network\n"
      "  phoenix network --topology > net && phoenix plan --topology net\n"
      "Exit code 0; 1: no mesh, or nothing is measured; 2: misuse.");
  verb.callback([&chosen, options] { chosen = [options] { return show(*options); }; });
}

}  // namespace phx::app
