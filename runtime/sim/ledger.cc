#include "runtime/sim/ledger.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "overlay/base/check.h"
#include "runtime/sim/pattern.h"

namespace phx::sim {
namespace {

constexpr std::uint64_t kVnodesMax = 65'536;
constexpr std::uint64_t kToAll = ~std::uint64_t{0};
constexpr std::uint64_t kToTool = kToAll - 1;

/// At the beginning of every payload; the bytes behind it follow from it.
struct Header {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t number = 0;
  std::uint64_t size = 0;
};

Pattern pattern_of(const Header& header) {
  return Pattern(header.from * 31 + header.to * 17 + header.number * 1'000'003);
}

Payload make(const Header& wanted) {
  Header header = wanted;
  header.size = std::max<std::uint64_t>(wanted.size, sizeof(Header));
  Bytes bytes(static_cast<std::size_t>(header.size));
  std::memcpy(bytes.data(), &header, sizeof(header));
  pattern_of(header).write(std::span(bytes).subspan(sizeof(header)));
  return Payload(std::move(bytes));
}

bool is_filled(const Payload& payload, const Header& header) {
  return pattern_of(header).is_in(payload.bytes().subspan(sizeof(Header)));
}

std::string pair(VnodeId from, VnodeId to) {
  return to_string(from) + " -> " + to_string(to);
}

}  // namespace

Ledger::Ledger(std::uint64_t vnodes, std::uint32_t job, Violations& violations)
    : violations_(violations), job_(std::uint64_t{job} << 32U) {
  PHX_CHECK(vnodes > 0 && vnodes <= kVnodesMax);
  vnodes_.resize(static_cast<std::size_t>(vnodes));
  streams_.resize(vnodes_.size());
  taken_broadcasts_.resize(vnodes_.size());
}

Ledger::Stream& Ledger::stream(VnodeId from, VnodeId to) {
  std::vector<Stream>& row = streams_[from.value];
  row.resize(vnodes_.size());
  return row[to.value];
}

std::uint32_t& Ledger::taken_broadcasts(VnodeId root, VnodeId at) {
  std::vector<std::uint32_t>& row = taken_broadcasts_[root.value];
  row.resize(vnodes_.size());
  return row[at.value];
}

Payload Ledger::send(VnodeId from, VnodeId to, std::size_t size) {
  ++outstanding_;
  return make({from.value, to.value, job_ | stream(from, to).sent++, size});
}

Payload Ledger::broadcast(VnodeId root, std::size_t size) {
  outstanding_ += vnodes_.size();
  return make({root.value, kToAll, job_ | vnodes_[root.value].broadcasts++, size});
}

void Ledger::received(VnodeId at, VnodeId from, bool is_broadcast, const Payload& payload) {
  if (from.value >= vnodes_.size() || at.value >= vnodes_.size()) {
    violations_.add("a message of or for a vnode that does not exist: " + pair(from, at));
    return;
  }
  auto& counter = is_broadcast ? counters_.broadcasts : counters_.messages;
  ++counter;
  std::uint32_t& expected = is_broadcast ? taken_broadcasts(from, at) : stream(from, at).received;
  receive(at, from, payload, is_broadcast, expected);
}

void Ledger::receive(VnodeId at, VnodeId from, const Payload& payload, bool is_broadcast,
                     std::uint32_t& expected) {
  const std::string what = is_broadcast ? "broadcast " : "message ";
  Header header;
  if (payload.size() < sizeof(Header)) {
    violations_.add(what + pair(from, at) + " was damaged");
    return;
  }
  std::memcpy(&header, payload.bytes().data(), sizeof(header));
  const std::uint64_t to = is_broadcast ? kToAll : at.value;
  if (header.from != from.value || header.to != to || header.size != payload.size() ||
      !is_filled(payload, header)) {
    violations_.add(what + pair(from, at) + " was damaged, or came to another vnode");
    return;
  }
  const auto number = static_cast<std::uint32_t>(header.number);
  if ((header.number ^ number) != job_) {
    violations_.add(what + pair(from, at) + " is of another job");
    return;
  }
  if (number != expected) {
    violations_.add(what + pair(from, at) + ": number " + std::to_string(number) +
                    " came instead of " + std::to_string(expected) +
                    (number < expected ? " (again)" : " (too early)"));
    return;
  }
  ++expected;
  --outstanding_;
}

void Ledger::pending(std::uint64_t reductions, std::uint64_t most) {
  if (reductions <= most) return;
  violations_.add(std::to_string(reductions) + " reductions towards one vnode are not complete, " +
                  std::to_string(most) + " at most");
}

void Ledger::reduced(VnodeId at, std::uint64_t round, bool is_right) {
  ++counters_.results;
  --outstanding_;
  if (!is_right) {
    violations_.add("reduction " + std::to_string(round) + ": wrong result at " + to_string(at));
  }
}

void Ledger::surplus(VnodeId at, VnodeId from) {
  violations_.add("a result too many, towards " + to_string(from) + ", at " + to_string(at));
}

void Ledger::installed(VnodeId vnode, MachineId at, std::optional<std::uint64_t> mark) {
  Vnode& it = vnodes_[vnode.value];
  if (it.holder) {
    violations_.add(to_string(vnode) + " was installed at " + to_string(at) +
                    " while it is held at " + to_string(*it.holder));
  }
  if (it.was_held != mark.has_value()) {
    violations_.add(to_string(vnode) +
                    (mark ? " came with a state before its first run" : " came without its state"));
  } else if (mark && *mark != it.mark) {
    violations_.add(to_string(vnode) + " came with another state than it left with");
  }
  if (it.was_held) ++counters_.moves;
  it.was_held = true;
  it.holder = at;
}

void Ledger::packed(VnodeId vnode, MachineId at, std::uint64_t mark) {
  Vnode& it = vnodes_[vnode.value];
  if (it.holder != at) {
    violations_.add(to_string(vnode) + " was packed at " + to_string(at) + " where it is not held");
  }
  it.holder.reset();
  it.mark = mark;
}

std::set<MachineId> Ledger::unshown_writers() const {
  std::set<MachineId> writers;
  for (const auto& [writer, number] : unshown_) {
    writers.insert(MachineId{static_cast<std::uint32_t>(writer)});
  }
  return writers;
}

std::uint64_t Ledger::progress() const {
  return counters_.messages + counters_.broadcasts + counters_.results + counters_.moves;
}

Payload Ledger::write(MachineId writer, std::size_t size) {
  const std::uint64_t number = outputs_[writer]++;
  unshown_.emplace(writer.value, number);
  return make({writer.value, kToTool, number, size});
}

void Ledger::shown(const Payload& output) {
  Header header;
  PHX_CHECK(output.size() >= sizeof(header));
  std::memcpy(&header, output.bytes().data(), sizeof(header));
  ++counters_.outputs;
  const bool is_whole = output.size() == header.size && is_filled(output, header);
  const MachineId writer{static_cast<std::uint32_t>(header.from)};
  // What is older would have to be shown before.
  const auto oldest = unshown_.lower_bound({header.from, 0});
  const bool is_any_left = oldest != unshown_.end() && oldest->first == header.from;
  const std::uint64_t most = is_any_left ? oldest->second : outputs_[writer];
  const auto next = next_shown_.find(writer);
  const std::uint64_t least = next == next_shown_.end() ? 0 : next->second;
  unshown_.erase({header.from, header.number});
  next_shown_[writer] = header.number + 1;
  if (is_whole && header.number >= least && header.number <= most) return;
  const char* what = !is_whole               ? " was damaged"
                     : header.number < least ? " was shown again"
                                             : " was shown too early";
  violations_.add("output " + std::to_string(header.number) + " of m" +
                  std::to_string(header.from) + what);
}

void Ledger::on_new_tool() {
  next_shown_.clear();
}

void Ledger::Counters::add(const Counters& other) {
  messages += other.messages;
  broadcasts += other.broadcasts;
  results += other.results;
  outputs += other.outputs;
  moves += other.moves;
}

std::string Ledger::missing() const {
  const std::size_t count = vnodes_.size();
  for (std::size_t from = 0; from < count; ++from) {
    const bool has_sent = !streams_[from].empty();
    if (!has_sent && vnodes_[from].broadcasts == 0) continue;
    for (std::size_t to = 0; to < count; ++to) {
      const Stream one = has_sent ? streams_[from][to] : Stream{};
      const std::string names = pair(VnodeId{from}, VnodeId{to});
      if (one.received < one.sent) {
        return "message " + names + " number " + std::to_string(one.received);
      }
      const auto& row = taken_broadcasts_[from];
      const std::uint32_t taken = row.empty() ? 0 : row[to];
      if (taken < vnodes_[from].broadcasts) {
        return "broadcast " + names + " number " + std::to_string(taken);
      }
    }
  }
  for (std::size_t vnode = 0; vnode < count; ++vnode) {
    if (!vnodes_[vnode].holder) return to_string(VnodeId{vnode}) + ", which nobody holds";
  }
  return outstanding_ > 0 ? "results of reductions" : "";
}

}  // namespace phx::sim
