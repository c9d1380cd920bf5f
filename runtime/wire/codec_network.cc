#include "runtime/wire/codec_network.h"

namespace phx::wire {
namespace {

using overlay::KnownNetwork;

KnownNetwork::Way read_way(const pb::KnownNetwork::Way& in, Source& source) {
  KnownNetwork::Way way;
  if (in.has_latency()) way.latency = source.duration(in.latency(), "Way.latency");
  if (in.has_bytes_per_second()) way.bytes_per_second = in.bytes_per_second();
  return way;
}

void write_way(const KnownNetwork::Way& in, pb::KnownNetwork::Way* out) {
  const auto& [latency, bytes_per_second] = in;
  if (latency) out->set_latency(duration_number(*latency));
  if (bytes_per_second) out->set_bytes_per_second(*bytes_per_second);
}

KnownNetwork::Ability read_ability(const pb::KnownNetwork::Ability& in, Source& source) {
  KnownNetwork::Ability ability;
  if (in.has_overhead()) ability.overhead = source.duration(in.overhead(), "Ability.overhead");
  if (in.has_out_bytes_per_second()) ability.out_bytes_per_second = in.out_bytes_per_second();
  if (in.has_in_bytes_per_second()) ability.in_bytes_per_second = in.in_bytes_per_second();
  if (in.has_wait()) ability.wait = source.duration(in.wait(), "Ability.wait");
  return ability;
}

void write_ability(const KnownNetwork::Ability& in, pb::KnownNetwork::Ability* out) {
  const auto& [overhead, out_rate, in_rate, wait] = in;
  if (overhead) out->set_overhead(duration_number(*overhead));
  if (out_rate) out->set_out_bytes_per_second(*out_rate);
  if (in_rate) out->set_in_bytes_per_second(*in_rate);
  if (wait) out->set_wait(duration_number(*wait));
}

void write_network(const KnownNetwork& in, pb::KnownNetwork* out) {
  const auto& [sites, between, usual, odd, pairs] = in;
  for (const auto& [name, processors, latency] : sites) {
    pb::KnownNetwork::Site& site = *out->add_sites();
    site.set_name(name);
    write_set(processors, site.mutable_processors());
    if (latency) site.set_latency(duration_number(*latency));
  }
  for (const auto& [ends, way] : between) {
    pb::KnownNetwork::Between& one = *out->add_between();
    one.set_from(static_cast<std::uint32_t>(ends.first));
    one.set_to(static_cast<std::uint32_t>(ends.second));
    write_way(way, one.mutable_way());
  }
  write_ability(usual, out->mutable_usual());
  for (const auto& [processor, ability] : odd) {
    pb::KnownNetwork::Odd& one = *out->add_odd();
    one.set_processor(processor.value);
    write_ability(ability, one.mutable_ability());
  }
  for (const auto& [ends, way] : pairs) {
    pb::KnownNetwork::Pair& one = *out->add_pairs();
    one.set_from(ends.first.value);
    one.set_to(ends.second.value);
    write_way(way, one.mutable_way());
  }
}

KnownNetwork read_network(const pb::KnownNetwork& in, Source& source) {
  KnownNetwork network;
  const bool is_short = source.require_short(in.sites(), "KnownNetwork.sites") &&
                        source.require_short(in.between(), "KnownNetwork.between") &&
                        source.require_short(in.odd(), "KnownNetwork.odd") &&
                        source.require_short(in.pairs(), "KnownNetwork.pairs");
  if (!is_short) return network;
  for (const pb::KnownNetwork::Site& site : in.sites()) {
    network.sites.push_back({source.text(site.name(), "Site.name"),
                             read_processors(site.processors(), source, "Site.processors"),
                             std::nullopt});
    if (site.has_latency()) {
      network.sites.back().latency = source.duration(site.latency(), "Site.latency");
    }
  }
  for (const pb::KnownNetwork::Between& one : in.between()) {
    network.between[{one.from(), one.to()}] = read_way(one.way(), source);
  }
  network.usual = read_ability(in.usual(), source);
  for (const pb::KnownNetwork::Odd& one : in.odd()) {
    network.odd[ProcessorId{one.processor()}] = read_ability(one.ability(), source);
  }
  for (const pb::KnownNetwork::Pair& one : in.pairs()) {
    network.pairs[{ProcessorId{one.from()}, ProcessorId{one.to()}}] = read_way(one.way(), source);
  }
  return network;
}

}  // namespace

void write(const overlay::NetworkUpdate& in, pb::NetworkUpdate& out) {
  const auto& [version, network] = in;
  out.set_number(version.number);
  out.set_author(version.author.value);
  write_network(network, out.mutable_network());
}

overlay::NetworkUpdate read(const pb::NetworkUpdate& in, Source& source) {
  return {{in.number(), ProcessorId{in.author()}}, read_network(in.network(), source)};
}

}  // namespace phx::wire
