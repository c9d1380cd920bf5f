#include "runtime/api/session.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <string>

#include "runtime/api/session_core.h"

namespace phx {
namespace {

using runtime::Endpoint;

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

/// Of processes that disagree about the target of a reduction nobody waits for the others.
void tell_of_lost(const Endpoint& endpoint) {
  const auto& lost = endpoint.contributions().lost();
  if (!lost || endpoint.ended()) return;
  const std::string target = to_string(lost->target);
  std::fprintf(stderr,
               "phoenix: the values of v%s for a reduction or gather towards %s have no result: "
               "the program of %s has ended before all vnodes had given theirs\n",
               to_string(lost->vnodes).c_str(), target.c_str(), target.c_str());
}

/// Of processes that disagree about the root of a broadcast each root gets its own value.
void tell_of_unread(Endpoint& endpoint) {
  if (endpoint.ended()) return;
  const runtime::Selector wanted{.kind = runtime::Message::Kind::kBroadcast, .tag = kCollectiveTag};
  const std::size_t count = endpoint.count(wanted);
  const auto first = endpoint.take(wanted);
  if (!first) return;
  const std::string more = count > 1 ? " (and " + std::to_string(count - 1) + " more)" : "";
  std::fprintf(stderr,
               "phoenix: a broadcast from %s has not been received by %s%s: the program has called "
               "broadcast() or scatter() with another root there, or not as often\n",
               to_string(first->second.from).c_str(), to_string(first->first).c_str(),
               more.c_str());
}

/// With what this process ends, if it ends well otherwise.
std::atomic<int> exit_code{0};

void fail_with(int code) {
  if (exit_code.exchange(code) != 0) return;
  ::on_exit(
      [](int status, void*) {
        if (status != 0 || exit_code == 0) return;
        std::fflush(nullptr);
        std::_Exit(exit_code);
      },
      nullptr);
}

Error taken_tag() {
  return {ErrorCode::kBadInput, "the highest tag is taken: collectives use it"};
}

/// Else each rank would be a job of its own, and compute the whole.
const Options& not_of_mpirun(const Options& options) {
  const char* const size = std::getenv("PHOENIX_MPI_SIZE");
  const bool says_where = !options.socket.empty() || !options.join.empty() || options.vnodes != 0 ||
                          std::getenv("PHOENIX_SOCKET") != nullptr ||
                          std::getenv("PHOENIX_JOIN") != nullptr;
  if (size == nullptr || std::string(size) == "1" || says_where) return options;
  throw Failure(ErrorCode::kBadInput,
                "`phoenix mpirun` has started this program, and that is for ranks, which call "
                "MPI_Init(); start one that has a Session by `phoenix run`");
}

/// A thread as long as it is in next() or run().
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): never leaves its function.
struct Serving {
  SessionCore& core;
  Handlers::Rest rest{core.handlers};
  ~Serving() {
    core.handlers.end();
    if (core.handlers.is_wanted()) core.engine.wake();
  }
};

/// The next message; the calling thread is in its handler then. Nothing: the end, or the time is
/// up, or `is_stopped()`. REQUIRES a Handlers::Rest of the caller.
std::optional<Message> next_of(SessionCore& core, std::optional<Duration> timeout,
                               const std::function<bool()>& is_stopped) {
  enum class Woken { kMessage, kMove, kHeldUp, kOver, kRefused };
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Message> message;
  std::optional<Failure> refusal;
  bool is_held_up = false;  // By other threads: a move is due or under way.
  bool has_waited = false;
  const auto look = [&](Endpoint& endpoint) -> std::optional<Woken> {
    if (is_stopped()) return Woken::kOver;
    const auto turn = core.handlers.turn(core.steps.is_move_due(endpoint), has_waited);
    if (turn == Handlers::Turn::kMove) return Woken::kMove;
    const bool was_held_up = std::exchange(is_held_up, turn == Handlers::Turn::kWait);
    if (is_held_up) return was_held_up ? std::nullopt : std::optional(Woken::kHeldUp);
    if ((refusal = core.steps.take_refusal(endpoint))) return Woken::kRefused;
    if ((message = core.take_from(endpoint, {.kind = {}}))) {
      core.handlers.begin();  // Before another thread moves the vnode that the message is for.
      return Woken::kMessage;
    }
    if (Steps::is_over(endpoint)) return Woken::kOver;
    return std::nullopt;
  };
  const auto what = [&] {
    return std::string(is_held_up ? "handlers of other threads" : "any message");
  };
  core.handlers.end();
  while (true) {
    Duration left = core.engine.options().timeout;
    if (timeout) {
      left = std::max(Duration::zero(),
                      Duration(*timeout - (std::chrono::steady_clock::now() - begin)));
    }
    const bool is_bounded = is_held_up && core.handlers.patience() < left;
    if (is_bounded) left = core.handlers.patience();
    const auto woken = core.engine.await({left, what}, look);
    if (refusal) throw Failure(*refusal);
    if (woken == Woken::kHeldUp) continue;  // From now on for so long.
    if (woken == Woken::kMove) {
      core.steps.move();
      is_held_up = has_waited = false;
    } else if (woken) {
      return message;
    } else if (is_held_up && !std::exchange(has_waited, true)) {
      core.handlers.on_waited();
    } else if (!is_bounded && (!is_held_up || timeout)) {
      return message;  // The time is up.
    }
  }
}

}  // namespace

Session::Session(const Options& options)
    : SessionCollectives(not_of_mpirun(options)), exceptions_(std::uncaught_exceptions()) {
  exit_code = 0;  // What became of another session before counts no more.
}

Session::~Session() {
  if (std::uncaught_exceptions() == exceptions_) {
    finish();
  } else if (!core_->is_finished.exchange(true)) {
    // Not abort(): that would end this process before it can say what the exception is about.
    core_->engine.close([](Endpoint&) {});
  }
}

// --- Who is where ------------------------------------------------------------------------------

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
  if (tag == kCollectiveTag) core_->throw_unless_ok(taken_tag(), "send", from);
  const auto send = [&](Endpoint& endpoint) {
    return endpoint.send(VnodeId{from}, VnodeId{to}, tag, payload);
  };
  core_->throw_unless_ok(core_->send_when_possible(std::cref(send), "send"), "send", from);
}

void Session::cast_bytes(Vnode root, const Payload& payload, Tag tag) {
  if (tag == kCollectiveTag) core_->throw_unless_ok(taken_tag(), "cast", root);
  const auto cast = [&](Endpoint& endpoint) {
    return endpoint.broadcast(VnodeId{root}, tag, payload);
  };
  core_->throw_unless_ok(core_->send_when_possible(std::cref(cast), "cast"), "cast", root);
}

Message Session::recv(const Wanted& wanted) {
  if (wanted.tag == kCollectiveTag) throw Failure(taken_tag());
  return core_->receive(wanted, "recv");
}

std::optional<Message> Session::try_recv(const Wanted& wanted) {
  if (wanted.tag == kCollectiveTag) throw Failure(taken_tag());
  return core_->take(wanted);
}

// --- Safe points -------------------------------------------------------------------------------

bool Session::safe_point() {
  return core_->steps.pass();
}

bool Session::local_safe_point() {
  return core_->steps.pass_alone();
}

std::optional<Message> Session::next(std::optional<Duration> timeout) {
  const Serving here{*core_};
  return next_of(*core_, timeout, [] { return false; });
}

void Session::run(const std::function<void(Message&)>& handler) {
  // Several threads may be here, and a handler may be in another run().
  const Serving here{*core_};
  const std::uint64_t heard = core_->stops_heard;
  const auto is_stopped = [&] { return core_->stops != heard; };
  core_->is_stopped = is_stopped();
  while (!is_stopped()) {
    auto message = next_of(*core_, std::nullopt, is_stopped);
    if (message) handler(*message);
    if (message || is_stopped()) continue;
    if (over()) return;
    throw Failure(ErrorCode::kTimeout,
                  "run: no message for " + spell(core_->engine.options().timeout))
        .in("run", std::nullopt, core_->engine.processor());
  }
  core_->stops_heard = core_->stops.load();
}

void Session::stop() {
  ++core_->stops;
  core_->is_stopped = true;
  core_->engine.wake();
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
    core_->steps.want(set.value());
    return success();
  });
  core_->throw_unless_ok(status, "assume", vnodes.empty() ? 0 : vnodes.front());
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
    core_->steps.give_up(set.value());
    return success();
  });
  core_->throw_unless_ok(status, "release", vnodes.empty() ? 0 : vnodes.front());
}

void Session::finish() {
  if (core_->is_finished.exchange(true)) return;
  core_->engine.drain();
  core_->engine.close([this](Endpoint& endpoint) {
    if (!core_->is_stopped) tell_of_lost(endpoint);
    if (!core_->is_stopped) tell_of_unread(endpoint);
    endpoint.finish();
  });
}

void Session::abort(int code, const std::string& reason) {
  if (core_->is_finished.exchange(true)) return;
  const int shown = code > 0 && code <= kExitCodeMax ? code : 1;
  std::cout.flush();  // The daemon ends this process.
  std::fflush(stdout);
  const std::string text =
      reason.size() <= kReasonMax ? reason : reason.substr(0, kReasonMax) + " ...";
  core_->engine.close([&](Endpoint& endpoint) { endpoint.abort(shown, text); });
  if (!core_->engine.has_daemon_inside()) return;
  // No tool follows such a job, which would say it, and end with the code.
  fail_with(shown);
  std::fprintf(stderr, "phoenix: %s ended the job with code %d: %s\n",
               to_string(core_->engine.processor()).c_str(), shown, text.c_str());
}

}  // namespace phx
