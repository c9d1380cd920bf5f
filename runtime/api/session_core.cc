#include "runtime/api/session_core.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace phx {
namespace {

/// A result that is made known to all is ahead of what is taken of it here by so much.
constexpr std::size_t kToldAhead = std::size_t{1} << 20U;

using runtime::ReservedResults;

runtime::Endpoint::Selector selector_of(const Wanted& wanted, const ReservedResults& reserved) {
  runtime::Endpoint::Selector selector{
      .kind = wanted.kind, .tag = wanted.tag, .reserved = &reserved};
  // What collectives send is nothing that a program receives.
  if (!wanted.tag) selector.hidden_tag = kCollectiveTag;
  if (wanted.at) selector.at = VnodeId{*wanted.at};
  if (wanted.from) selector.from = VnodeId{*wanted.from};
  return selector;
}

/// Throws what is wrong with `wanted`: such a message would never come.
void check(const runtime::Endpoint& endpoint, const Wanted& wanted, const char* operation,
           ProcessorId here) {
  std::string what;
  if (wanted.at && !endpoint.held().contains(VnodeId{*wanted.at})) {
    what = to_string(VnodeId{*wanted.at}) + is_not_held(endpoint);
  } else if (wanted.from && *wanted.from >= endpoint.vnodes()) {
    what = "there is no " + to_string(VnodeId{*wanted.from}) + ": the job has " +
           std::to_string(endpoint.vnodes()) + " vnodes";
  } else {
    return;
  }
  throw Failure(ErrorCode::kBadInput, std::string(operation) + ": " + what)
      .in(operation, wanted.at, here);
}

/// What is no message from vnode to vnode is named.
std::string name_of(const std::optional<Kind>& kind) {
  if (!kind) return " of any kind";
  if (*kind == Kind::kReduced) return " of the result of a reduction";
  if (*kind == Kind::kAllreduced) return " of the result of a reduction for all";
  return "";
}

/// "recv by v3 of tag 7 from any vnode".
std::string describe(const Wanted& wanted, const char* operation) {
  std::string text = operation + name_of(wanted.kind);
  text +=
      " by " + (wanted.at ? to_string(VnodeId{*wanted.at}) : std::string("any vnode held here"));
  const bool is_own = wanted.tag && *wanted.tag != kCollectiveTag;  // the program's
  if (is_own) text += " of tag " + std::to_string(*wanted.tag);
  text += " from " + (wanted.from ? to_string(VnodeId{*wanted.from}) : std::string("any vnode"));
  return text;
}

/// Where a broadcast is looked for and a message is there, or the other way round: which.
std::string misfits(const runtime::Endpoint& endpoint, const Wanted& wanted,
                    const ReservedResults& reserved) {
  if (!wanted.kind || *wanted.kind > Kind::kBroadcast) return "";
  const bool wants_broadcast = *wanted.kind == Kind::kBroadcast;
  runtime::Endpoint::Selector other = selector_of(wanted, reserved);
  other.kind = wants_broadcast ? Kind::kPointToPoint : Kind::kBroadcast;
  const std::size_t count = endpoint.count(other);
  if (count == 0) return "";
  const std::string which = wanted.tag ? " with this tag" : "";
  return wants_broadcast
             ? "a message" + which + " is waiting that is no broadcast: leave .kind out to get it"
             : "a broadcast" + which + " is waiting: .kind = phx::Kind::kBroadcast gets it";
}

/// What else lies in the mailbox, so that a wrong tag or kind is seen at once.
std::string others(const runtime::Endpoint& endpoint, const Wanted& wanted,
                   const ReservedResults& reserved) {
  if (std::string misfit = misfits(endpoint, wanted, reserved); !misfit.empty()) return misfit;
  runtime::Endpoint::Selector same{.hidden_tag = kCollectiveTag, .reserved = &reserved};
  if (wanted.at) same.at = VnodeId{*wanted.at};
  const std::size_t count = endpoint.count(same);
  if (count == 0) return "no other message is waiting";
  const char* what = wanted.tag ? " with other tags" : "";
  return std::to_string(count) + (count == 1 ? " message" : " messages") + what +
         (count == 1 ? " is waiting" : " are waiting");
}

/// Whom the target of a reduction here waits for.
std::string of_reductions(const Engine& engine) {
  const auto lacking = [](const runtime::Endpoint& of) { return of.targets().lacking(); };
  const std::string text = engine.query(lacking);
  return text.empty() ? "" : "; " + text;
}

}  // namespace

void SessionCore::throw_unless_ok(const Status& status, const char* operation, Vnode vnode) const {
  if (status.ok()) return;
  const Error& error = status.error();
  const ErrorCode code = error.code == ErrorCode::kUnavailable ? ErrorCode::kAborted : error.code;
  throw Failure(code, std::string(operation) + ": " + error.what)
      .in(operation, vnode, engine.processor());
}

bool SessionCore::holds(Vnode vnode) const {
  return engine.query([vnode](const runtime::Endpoint& endpoint) {
    return endpoint.held().contains(VnodeId{vnode});
  });
}

std::vector<Vnode> SessionCore::held() const {
  const VnodeSet held =
      engine.query([](const runtime::Endpoint& endpoint) { return endpoint.held(); });
  std::vector<Vnode> vnodes;
  vnodes.reserve(static_cast<std::size_t>(held.size()));
  for (const VnodeId v : held.ids()) vnodes.push_back(v.value);
  return vnodes;
}

std::uint64_t SessionCore::vnodes() const {
  return engine.query([](const runtime::Endpoint& endpoint) { return endpoint.vnodes(); });
}

Status SessionCore::send_when_possible(const std::function<Status(runtime::Endpoint&)>& send,
                                       const char* operation) {
  Status last = engine.call(std::cref(send));
  if (last.ok() || last.error().code != ErrorCode::kLimit) return last;
  const auto what = [&] { return std::string(operation) + ": " + last.error().what; };
  const auto look = [&](runtime::Endpoint& endpoint) -> std::optional<Status> {
    last = send(endpoint);
    if (!last.ok() && last.error().code == ErrorCode::kLimit) return std::nullopt;
    return last;
  };
  const Duration timeout = engine.options().timeout;
  if (const auto done = engine.await({timeout, what}, look)) return *done;
  return Error{ErrorCode::kTimeout, last.error().what + ", for " + spell(timeout)};
}

std::optional<Message> SessionCore::take_from(runtime::Endpoint& endpoint, const Wanted& wanted,
                                              bool is_waiting) {
  const auto selector = selector_of(wanted, reserved);
  auto taken = endpoint.take(selector);
  if (!taken) {
    // Who does not wait is told nothing: there is no message.
    const Status more = endpoint.want(selector);
    if (!more.ok() && is_waiting) {
      throw Failure(more.error().code,
                    describe(wanted, "recv") + ": " + more.error().what + " already")
          .in("recv", wanted.at, engine.processor());
    }
    return std::nullopt;
  }
  auto& [to, m] = *taken;
  return Message{to.value, m.from.value, m.tag, m.kind, m.number, std::move(m.payload)};
}

std::optional<Message> SessionCore::take(const Wanted& wanted) {
  // A failure of the connection shows here only when there is nothing left to take.
  const auto look = [&](runtime::Endpoint& endpoint) {
    check(endpoint, wanted, "try_recv", engine.processor());
    return take_from(endpoint, wanted);
  };
  return engine.await({Duration::zero(), [] { return std::string(); }}, look);
}

Message SessionCore::receive(const Wanted& wanted, const char* operation) {
  const Duration timeout = wanted.timeout.value_or(engine.options().timeout);
  const runtime::Endpoint* looked_at = nullptr;
  const auto what = [&] {  // Called with the mutex, as `look` is.
    const std::string misfit = looked_at == nullptr ? "" : misfits(*looked_at, wanted, reserved);
    return describe(wanted, operation) + (misfit.empty() ? "" : "; " + misfit);
  };
  const auto look = [&](runtime::Endpoint& endpoint) {
    looked_at = &endpoint;
    check(endpoint, wanted, operation, engine.processor());
    return take_from(endpoint, wanted, true);
  };
  std::optional<VnodeId> at;
  if (wanted.at) at = VnodeId{*wanted.at};
  auto taken = engine.await({timeout, std::cref(what), at}, look);  // too large to be copied
  if (taken) return std::move(*taken);
  const std::string waiting = engine.query(
      [&](const runtime::Endpoint& endpoint) { return others(endpoint, wanted, reserved); });
  throw Failure(ErrorCode::kTimeout, describe(wanted, operation) + ": nothing for " +
                                         spell(timeout) + "; " + waiting + of_reductions(engine))
      .in(operation, wanted.at, engine.processor());
}

void SessionCore::reserve(const runtime::Endpoint& endpoint, const Ticket& ticket,
                          const Reduction& reduction) {
  const VnodeId target{ticket.target};
  const auto add = [&](Kind kind, VnodeId at) {
    reserved.add(kind, at, target, ticket.number, ticket.pieces);
  };
  if (reduction.kind.to_all) add(Kind::kAllreduced, VnodeId{ticket.vnode});
  const bool is_reduced = !reduction.kind.to_all || reduction.fold;
  if (is_reduced && endpoint.held().contains(target)) add(Kind::kReduced, target);
}

void SessionCore::release(const std::vector<Ticket>& tickets) {
  engine.query([&](const runtime::Endpoint&) {
    for (const Ticket& one : tickets) {
      const VnodeId target{one.target};
      reserved.release(Kind::kAllreduced, VnodeId{one.vnode}, target, one.number, one.pieces);
      reserved.release(Kind::kReduced, target, target, one.number, one.pieces);
    }
  });
}

std::vector<Payload> SessionCore::result(const Ticket& ticket, Vnode at, Kind kind,
                                         const char* operation) {
  const Duration timeout = engine.options().timeout;
  std::vector<Payload> pieces;
  const auto look = [&](runtime::Endpoint& endpoint) -> std::optional<bool> {
    while (pieces.size() < ticket.pieces) {
      const runtime::Endpoint::Selector wanted{.at = VnodeId{at},
                                               .kind = kind,
                                               .from = VnodeId{ticket.target},
                                               .number = ticket.number + pieces.size()};
      auto taken = endpoint.take(wanted);
      if (!taken) {
        // Broadcasts of the same vnode may be in front of it.
        if (const Status more = endpoint.want(wanted); !more.ok()) throw Failure(more.error());
        return std::nullopt;
      }
      reserved.remove(kind, VnodeId{at}, VnodeId{ticket.target}, *wanted.number);
      pieces.push_back(std::move(taken->second.payload));
    }
    return true;
  };
  if (!engine.await({timeout, [&] { return std::string(operation); }}, look)) {
    throw Failure(ErrorCode::kTimeout, std::string(operation) + ": not all vnodes have called it " +
                                           "within " + spell(timeout) + of_reductions(engine))
        .in(operation, at, engine.processor());
  }
  return pieces;
}

Payload SessionCore::fold(const std::vector<Ticket>& tickets, const Reduction& reduction,
                          const char* operation) {
  const Ticket& first = tickets.front();
  const auto piece_of = [](const Ticket& ticket, std::uint64_t piece) {
    return Ticket{ticket.vnode, ticket.target, ticket.number + piece, 1};
  };
  std::vector<Payload> pieces;
  // What all are told comes to the vnodes here, too, and comes on only as far as they take it.
  std::uint64_t taken = 0;
  std::size_t untaken_bytes = 0;
  const auto take = [&] {
    for (const Ticket& ticket : tickets) {
      static_cast<void>(
          result(piece_of(ticket, taken), ticket.vnode, Kind::kAllreduced, operation));
    }
    untaken_bytes -= pieces[taken].size();
    ++taken;
  };
  for (std::uint64_t piece = 0; piece < first.pieces; ++piece) {
    const Ticket one = piece_of(first, piece);
    const auto values =
        runtime::split_user_values(result(one, first.target, Kind::kReduced, operation).front());
    if (values.empty()) throw Failure(ErrorCode::kBadInput, "a reduction's values are damaged");
    const Payload& folded = pieces.emplace_back(reduction.fold(values));
    if (!reduction.kind.to_all) continue;
    const Status status = engine.call([&](runtime::Endpoint& endpoint) {
      return endpoint.announce(VnodeId{first.target}, one.number, folded);
    });
    if (!status.ok()) throw Failure(status.error());
    untaken_bytes += folded.size();
    while (untaken_bytes > kToldAhead) take();
  }
  while (reduction.kind.to_all && taken < first.pieces) take();
  return joined(pieces);
}

}  // namespace phx
