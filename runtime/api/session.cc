#include "runtime/api/session.h"

#include <exception>
#include <memory>

#include "runtime/api/session_core.h"

namespace phx {
namespace {

using runtime::Endpoint;

/// Results of allreduce() come from here.
constexpr Vnode kAllTarget = 0;

/// What a process can leave with; an abort is no success.
constexpr int kExitCodeMax = 255;
/// Of a reason to abort; the wire takes more, but a person reads it.
constexpr std::size_t kReasonMax = std::size_t{4} << 10U;

/// Of vnodes of the job only.
Result<VnodeSet> set_of(const Endpoint& endpoint, const std::vector<Vnode>& vnodes) {
  VnodeSet set;
  for (const Vnode v : vnodes) {
    if (v >= endpoint.vnodes()) {
      return Error{ErrorCode::kBadInput, "there is no " + to_string(VnodeId{v}) + ": the job has " +
                                             std::to_string(endpoint.vnodes()) + " vnodes"};
    }
    set.insert(VnodeId{v});
  }
  return set;
}

void check(const SessionCore& core, const Status& status, const char* operation, Vnode vnode) {
  if (status.ok()) return;
  const Error& error = status.error();
  const ErrorCode code = error.code == ErrorCode::kUnavailable ? ErrorCode::kAborted : error.code;
  throw Failure(code, std::string(operation) + ": " + error.what)
      .in(operation, vnode, core.engine.processor());
}

Error taken_tag() {
  return {ErrorCode::kBadInput, "the highest tag is taken: broadcast() uses it"};
}

}  // namespace

Session::Session(const Options& options)
    : core_(std::make_unique<SessionCore>(options)), exceptions_(std::uncaught_exceptions()) {}

Session::~Session() {
  if (std::uncaught_exceptions() == exceptions_) {
    finish();
  } else if (!core_->is_finished.exchange(true)) {
    // Not abort(): that would end this process before it can say what the exception is about.
    core_->engine.close([](Endpoint&) {});
  }
}

// --- Who is where ------------------------------------------------------------------------------

std::uint64_t Session::vnodes() const {
  return core_->engine.query([](const Endpoint& endpoint) { return endpoint.vnodes(); });
}

std::vector<Vnode> Session::held() const {
  const VnodeSet held =
      core_->engine.query([](const Endpoint& endpoint) { return endpoint.held(); });
  std::vector<Vnode> vnodes;
  vnodes.reserve(static_cast<std::size_t>(held.size()));
  for (const VnodeId v : held.ids()) vnodes.push_back(v.value);
  return vnodes;
}

bool Session::holds(Vnode vnode) const {
  return core_->engine.query(
      [vnode](const Endpoint& endpoint) { return endpoint.held().contains(VnodeId{vnode}); });
}

ProcessorId Session::processor() const {
  return core_->engine.processor();
}

std::vector<std::string> Session::endpoints() const {
  return core_->engine.endpoints();
}

bool Session::over() const {
  return core_->is_finished || core_->engine.query(&Steps::is_over);
}

// --- Messages ----------------------------------------------------------------------------------

void Session::send_bytes(Vnode from, Vnode to, const Payload& payload, Tag tag) {
  if (tag == kCollectiveTag) check(*core_, taken_tag(), "send", from);
  const auto send = [&](Endpoint& endpoint) {
    return endpoint.send(VnodeId{from}, VnodeId{to}, tag, payload);
  };
  check(*core_, core_->send_when_possible(send, "send"), "send", from);
}

void Session::cast_bytes(Vnode root, const Payload& payload, Tag tag) {
  if (tag == kCollectiveTag) check(*core_, taken_tag(), "cast", root);
  cast_any(root, payload, tag);
}

void Session::cast_any(Vnode root, const Payload& payload, Tag tag) {
  const auto cast = [&](Endpoint& endpoint) {
    return endpoint.broadcast(VnodeId{root}, tag, payload);
  };
  check(*core_, core_->send_when_possible(cast, "cast"), "cast", root);
}

Message Session::recv(const Wanted& wanted) {
  return core_->receive(wanted, "recv");
}

std::optional<Message> Session::try_recv(const Wanted& wanted) {
  return core_->take(wanted);
}

// --- Collectives -------------------------------------------------------------------------------

Payload Session::await_cast(Vnode root) {
  Payload payload;
  for (const Vnode v : held()) {
    payload =
        core_
            ->receive({.at = v, .from = root, .tag = kCollectiveTag, .kind = Kind::kBroadcast},
                      "broadcast")
            .payload;
  }
  return payload;
}

Ticket Session::contribute_bytes(Vnode vnode, Vnode target, const Reduction& reduction,
                                 const Payload& value) {
  return contribute_all(target, reduction, {{vnode, value}}).front();
}

/// All at once, so that the contributions of this process leave as one.
std::vector<Ticket> Session::contribute_all(Vnode target, const Reduction& reduction,
                                            const VnodeValues& values) {
  std::vector<Ticket> tickets;
  const auto contribute = [&](Endpoint& endpoint) -> Status {
    while (tickets.size() < values.size()) {
      const auto& [vnode, value] = values[tickets.size()];
      const auto made = endpoint.contribute(VnodeId{vnode}, VnodeId{target},
                                            {reduction.kind, value, reduction.element_bytes});
      if (!made.ok()) return made.error();
      tickets.push_back({vnode, target, made.value().first, made.value().pieces});
    }
    return success();
  };
  const Status status = core_->send_when_possible(contribute, "reduce");
  if (!status.ok()) check(*core_, status, "reduce", values[tickets.size()].first);
  return tickets;
}

Payload Session::allreduce_bytes(const Reduction& reduction, const VnodeValues& values) {
  const auto tickets = contribute_all(kAllTarget, reduction, values);
  if (tickets.empty()) {
    throw Failure(ErrorCode::kBadInput, "allreduce: this process holds no vnode; see safe_point()");
  }
  if (reduction.fold && holds(kAllTarget)) {
    static_cast<void>(core_->fold(tickets.front(), reduction, "allreduce"));
  }
  Payload payload;
  for (const Ticket& ticket : tickets) {
    payload = core_->result(ticket, ticket.vnode, Kind::kAllreduced, "allreduce");
  }
  return payload;
}

std::optional<Payload> Session::reduce_bytes(Vnode target, const Reduction& reduction,
                                             const VnodeValues& values) {
  const auto tickets = contribute_all(target, reduction, values);
  if (!holds(target)) return std::nullopt;
  if (reduction.fold) return core_->fold(tickets.front(), reduction, "reduce");
  return core_->result(tickets.front(), target, Kind::kReduced, "reduce");
}

void Session::barrier() {
  allreduce(logical_and, std::uint8_t{1});
}

// --- Safe points -------------------------------------------------------------------------------

bool Session::safe_point() {
  return core_->steps.pass();
}

bool Session::local_safe_point() {
  return core_->steps.pass_alone();
}

std::optional<Message> Session::next(std::optional<Duration> timeout) {
  enum class Woken { kMessage, kMove, kOver, kRefused };
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Message> message;
  std::optional<Failure> refusal;
  Duration left = timeout.value_or(core_->engine.options().timeout);
  const auto look = [&](Endpoint& endpoint) -> std::optional<Woken> {
    if (core_->steps.is_move_due(endpoint)) return Woken::kMove;
    if ((refusal = core_->steps.take_refusal(endpoint))) return Woken::kRefused;
    if ((message = core_->take_from(endpoint, {.kind = {}}))) return Woken::kMessage;
    if (Steps::is_over(endpoint)) return Woken::kOver;
    return std::nullopt;
  };
  while (true) {
    const auto woken = core_->engine.await({left, [] { return std::string("any message"); }}, look);
    if (refusal) throw Failure(*refusal);
    if (woken != Woken::kMove) return message;
    core_->steps.move();
    if (timeout) {
      left = std::max(Duration::zero(),
                      Duration(*timeout - (std::chrono::steady_clock::now() - begin)));
    }
  }
}

void Session::run(const std::function<void(Message&)>& handler) {
  core_->is_stopped = false;
  while (!core_->is_stopped) {
    auto message = next();
    if (!message) return;
    handler(*message);
  }
}

void Session::stop() {
  core_->is_stopped = true;
}

// --- State, mapping, end -----------------------------------------------------------------------

void Session::add_state(VnodeState state) {
  core_->steps.add_state(std::move(state));
}

void Session::assume(const std::vector<Vnode>& vnodes) {
  const Status status = core_->engine.call([&](Endpoint& endpoint) -> Status {
    const auto set = set_of(endpoint, vnodes);
    if (!set.ok()) return set.error();
    endpoint.assume(set.value());
    return success();
  });
  check(*core_, status, "assume", vnodes.empty() ? 0 : vnodes.front());
}

void Session::release(const std::vector<Vnode>& vnodes) {
  const Status status = core_->engine.call([&](Endpoint& endpoint) -> Status {
    const auto set = set_of(endpoint, vnodes);
    if (!set.ok()) return set.error();
    const VnodeSet others = set.value().minus(endpoint.held());
    if (!others.empty()) {
      return Error{ErrorCode::kBadInput, "v" + to_string(others) + is_not_held(endpoint)};
    }
    endpoint.release(set.value());
    return success();
  });
  check(*core_, status, "release", vnodes.empty() ? 0 : vnodes.front());
}

void Session::finish() {
  if (core_->is_finished.exchange(true)) return;
  core_->engine.drain();
  core_->engine.close([](Endpoint& endpoint) { endpoint.finish(); });
}

void Session::abort(int code, const std::string& reason) {
  if (core_->is_finished.exchange(true)) return;
  const int shown = code > 0 && code <= kExitCodeMax ? code : 1;
  const std::string text =
      reason.size() <= kReasonMax ? reason : reason.substr(0, kReasonMax) + " ...";
  core_->engine.close([&](Endpoint& endpoint) { endpoint.abort(shown, text); });
}

}  // namespace phx
