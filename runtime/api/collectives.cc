#include "runtime/api/collectives.h"

#include <algorithm>
#include <string>
#include <utility>

#include "collectives/reduce_op.h"
#include "runtime/api/alltoall.h"
#include "runtime/api/parts.h"

namespace phx {
namespace {

using runtime::Endpoint;

/// Of calls whose result all get.
constexpr Vnode kAllTarget = 0;

/// A value up to here goes along the trees with the values of others, which costs each processor on
/// the way its bytes; a longer one straight to who needs it, which costs a message of its own.
constexpr std::size_t kShortValue = std::size_t{16} << 10U;
/// The same for the values of one vnode to all together.
constexpr std::size_t kShortParts = std::size_t{64} << 10U;

std::vector<Vnode> vnodes_of(const VnodeValues& values) {
  std::vector<Vnode> vnodes;
  for (const auto& [v, value] : values) vnodes.push_back(v);
  return vnodes;
}

/// REQUIRES that none is missing.
std::vector<Payload> values_of(Parts&& parts) {
  std::vector<Payload> values;
  for (auto& part : parts) values.push_back(std::move(*part));
  return values;
}

Payload combined(const Reduction& reduction, const Payload& left, const Payload& right) {
  if (reduction.fold) return reduction.fold({left, right});
  return value_or_throw(collectives::combine(reduction.kind, left, right));
}

/// The i-th: all up to that one, combined; with `first` that and all before.
std::vector<Payload> prefixes(const Reduction& reduction, const std::vector<Payload>& values,
                              const std::optional<Payload>& first) {
  std::vector<Payload> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == 0) {
      results.push_back(first.value_or(values[0]));
    } else {
      results.push_back(combined(reduction, results.back(), values[first ? i - 1 : i]));
    }
  }
  return results;
}

}  // namespace

std::vector<Vnode> Collectives::held(const char* operation) const {
  std::vector<Vnode> held = core_.held();
  if (!held.empty()) return held;
  throw Failure(ErrorCode::kBadInput,
                std::string(operation) +
                    ": this process holds no vnode. It gets its first ones at a safe point: call "
                    "safe_point() or next() before; and where these have returned false it has no "
                    "part in the job any more, and returns from main")
      .in(operation, std::nullopt, core_.engine.processor());
}

/// Others would wait for the values of a vnode that are not given, and it for ever.
void Collectives::check_complete(std::vector<Vnode> given, const char* operation) const {
  std::sort(given.begin(), given.end());
  if (given == core_.held()) return;
  throw Failure(ErrorCode::kBadInput, std::string(operation) + ": values of " +
                                          std::to_string(given.size()) + " vnodes were given; " +
                                          "it takes one of each vnode held, and of no other")
      .in(operation, std::nullopt, core_.engine.processor());
}

// --- Reductions and broadcasts -------------------------------------------------------------------

/// All at once, so that the contributions of this process leave as one.
std::vector<Ticket> Collectives::give(Vnode target, const Reduction& reduction,
                                      const VnodeValues& values, const char* operation,
                                      bool is_reserved) {
  std::vector<Ticket> tickets;
  const auto contribute = [&](Endpoint& endpoint) -> Status {
    while (tickets.size() < values.size()) {
      const auto& [vnode, value] = values[tickets.size()];
      const auto made = endpoint.contribute(VnodeId{vnode}, VnodeId{target},
                                            {reduction.kind, value, reduction.element_bytes});
      if (!made.ok()) return made.error();
      tickets.push_back({vnode, target, made.value().first, made.value().pieces});
      if (is_reserved) core_.reserve(endpoint, tickets.back(), reduction);
    }
    return success();
  };
  const Status status = core_.send_when_possible(contribute, operation);
  if (!status.ok()) {
    core_.release(tickets);
    core_.throw_unless_ok(status, operation, values[tickets.size()].first);
  }
  return tickets;
}

namespace {

/// After a call that throws nothing is kept for it.
struct Released {  // NOLINT(cppcoreguidelines-special-member-functions): never leaves its function.
  SessionCore& core;
  const std::vector<Ticket>& tickets;
  ~Released() { core.release(tickets); }
};

}  // namespace

Payload Collectives::allreduce(const Reduction& reduction, const VnodeValues& values,
                               const char* operation) {
  static_cast<void>(held(operation));
  check_complete(vnodes_of(values), operation);
  const auto tickets = give(kAllTarget, reduction, values, operation);
  const Released released{core_, tickets};
  if (reduction.fold && core_.holds(kAllTarget)) return core_.fold(tickets, reduction, operation);
  std::vector<Payload> pieces;  // All vnodes get the same.
  for (const Ticket& ticket : tickets) {
    pieces = core_.result(ticket, ticket.vnode, Kind::kAllreduced, operation);
  }
  return joined(pieces);
}

std::optional<Payload> Collectives::reduce(Vnode target, const Reduction& reduction,
                                           const VnodeValues& values, const char* operation) {
  check_complete(vnodes_of(values), operation);
  const auto tickets = give(target, reduction, values, operation);
  const Released released{core_, tickets};
  if (!core_.holds(target)) return std::nullopt;
  if (reduction.fold) return core_.fold(tickets, reduction, operation);
  return joined(core_.result(tickets.front(), target, Kind::kReduced, operation));
}

void Collectives::cast(Vnode root, const Payload& payload, const char* operation) {
  const auto cast = [&](Endpoint& endpoint) {
    return endpoint.broadcast(VnodeId{root}, kCollectiveTag, payload);
  };
  core_.throw_unless_ok(core_.send_when_possible(cast, operation), operation, root);
}

/// All vnodes held get it.
Payload Collectives::await_broadcast(Vnode root, const char* operation) {
  Payload payload;
  for (const Vnode v : held(operation)) {
    const Wanted wanted{.at = v, .from = root, .tag = kCollectiveTag, .kind = Kind::kBroadcast};
    payload = core_.receive(wanted, operation).payload;
  }
  return payload;
}

Payload Collectives::broadcast(Vnode root, const std::function<Payload()>& make,
                               const char* operation) {
  if (core_.holds(root)) cast(root, make(), operation);
  return await_broadcast(root, operation);
}

std::vector<Payload> Collectives::exchange(std::deque<Sent> sends, std::vector<Expected> expected,
                                           const char* operation) {
  return exchange_past_trees(core_, {.rounds = {std::move(sends)}, .expected = std::move(expected)},
                             operation);
}

// --- What is made of them ------------------------------------------------------------------------

std::optional<std::vector<Payload>> Collectives::gather(Vnode target, const VnodeValues& values,
                                                        const char* operation) {
  static_cast<void>(held(operation));
  const bool is_target = core_.holds(target);
  VnodeValues parts;
  std::deque<Sent> sends;
  for (const auto& [v, value] : values) {
    const bool is_apart = value.size() > kShortValue;
    parts.emplace_back(v, part_of(Gathering::kGather, value, is_apart));
    if (is_apart && !is_target) sends.push_back({v, target, value});
  }
  const auto joined = reduce(target, gathering(Gathering::kGather), parts, operation);
  if (!joined) {
    static_cast<void>(exchange(std::move(sends), {}, operation));
    return std::nullopt;
  }
  Parts all = split(*joined, core_.vnodes());
  for (const auto& [v, value] : values) all[v] = value;
  std::vector<Expected> expected;
  for (Vnode v = 0; v < all.size(); ++v) {
    if (!all[v]) expected.push_back({target, v});
  }
  std::vector<Payload> received = exchange({}, expected, operation);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    all[expected[i].from] = std::move(received[i]);
  }
  return values_of(std::move(all));
}

std::vector<Payload> Collectives::allgather(const VnodeValues& values) {
  constexpr const char* kOperation = "allgather";
  VnodeValues parts;
  std::deque<Sent> sends;
  for (const auto& [v, value] : values) {
    const bool is_apart = value.size() > kShortValue;
    parts.emplace_back(v, part_of(Gathering::kAllgather, value, is_apart));
    if (is_apart) sends.push_back({v, std::nullopt, value});
  }
  Parts all = split(allreduce(gathering(Gathering::kAllgather), parts, kOperation), core_.vnodes());
  // Each vnode here gets each broadcast.
  std::vector<Expected> expected;
  for (Vnode from = 0; from < all.size(); ++from) {
    if (all[from]) continue;
    for (const auto& [at, value] : values) expected.push_back({at, from, Kind::kBroadcast});
  }
  std::vector<Payload> received = exchange(std::move(sends), expected, kOperation);
  for (std::size_t i = 0; i < expected.size(); ++i) all[expected[i].from] = received[i];
  return values_of(std::move(all));
}

VnodeValues Collectives::scatter(Vnode root, const std::function<std::vector<Payload>()>& make,
                                 const char* operation) {
  const std::vector<Vnode> here = held(operation);
  const std::uint64_t vnodes = core_.vnodes();
  std::vector<Payload> parts;
  std::deque<Sent> sends;
  const bool is_root = core_.holds(root);
  if (is_root) {
    parts = make();
    if (parts.size() != vnodes) {
      throw Failure(ErrorCode::kBadInput, std::string(operation) + ": " +
                                              std::to_string(parts.size()) + " values for " +
                                              std::to_string(vnodes) + " vnodes")
          .in(operation, root, core_.engine.processor());
    }
    const bool is_apart = size_of(parts) > kShortParts;
    Parts sent(parts.begin(), parts.end());
    if (is_apart) sent.assign(parts.size(), std::nullopt);
    for (Vnode v = 0; is_apart && v < vnodes; ++v) {
      const bool is_here = std::binary_search(here.begin(), here.end(), v);
      if (!is_here) sends.push_back({root, v, parts[v]});
    }
    cast(root, join(sent), operation);
  }
  const Parts all = split(await_broadcast(root, operation), vnodes);
  std::vector<Expected> expected;
  VnodeValues results;
  for (const Vnode v : here) {
    if (!is_root && !all[v]) expected.push_back({v, root});
    results.emplace_back(v, is_root ? parts[v] : all[v].value_or(Payload()));
  }
  const std::vector<Payload> received = exchange(std::move(sends), expected, operation);
  for (std::size_t i = 0, next = 0; next < expected.size(); ++i) {
    if (results[i].first == expected[next].at) results[i].second = received[next++];
  }
  return results;
}

std::map<Vnode, std::vector<Payload>> Collectives::alltoall(
    const std::map<Vnode, std::vector<Payload>>& rows) {
  constexpr const char* kOperation = "alltoall";
  const std::uint64_t vnodes = core_.vnodes();
  for (const auto& [from, row] : rows) {
    if (row.size() == vnodes) continue;
    throw Failure(ErrorCode::kBadInput, "alltoall: v" + std::to_string(from) + " gives " +
                                            std::to_string(row.size()) + " values for " +
                                            std::to_string(vnodes) + " vnodes")
        .in(kOperation, from, core_.engine.processor());
  }
  Alltoall alltoall(vnodes, rows);
  const Parts all =
      split(allreduce(gathering(Gathering::kAlltoall), alltoall.parts(), kOperation), vnodes);
  const std::vector<Expected> expected = alltoall.expected(all);
  return alltoall.columns(exchange(alltoall.sends(), expected, kOperation));
}

VnodeValues Collectives::scan(const Reduction& reduction, const VnodeValues& values,
                              const std::optional<Payload>& first) {
  const char* operation = first ? "exscan" : "scan";
  const auto all = gather(kAllTarget, values, operation);
  return scatter(
      kAllTarget, [&] { return prefixes(reduction, *all, first); }, operation);
}

}  // namespace phx
