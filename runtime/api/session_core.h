#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/api/engine.h"
#include "runtime/api/handlers.h"
#include "runtime/api/message.h"
#include "runtime/api/reduce.h"
#include "runtime/api/steps.h"
#include "runtime/endpoint/reserved_results.h"

namespace phx {

/// The end of a sentence about vnodes that this process should hold.
[[nodiscard]] inline std::string is_not_held(const runtime::Endpoint& endpoint) {
  return " is not held by this process, which holds " +
         (endpoint.held().empty() ? "nothing" : to_string(endpoint.held()));
}

/// What a Session consists of. Thread rule: as of Session.
class SessionCore {
 public:
  explicit SessionCore(const Options& options)
      : engine(options), steps(engine, handlers, reserved) {}

  /// The oldest matching message, waiting for it. Throws Failure (kTimeout) after the time-out.
  [[nodiscard]] Message receive(const Wanted& wanted, const char* operation);
  /// The same message if it is there. What is reserved is never taken.
  [[nodiscard]] std::optional<Message> take(const Wanted& wanted);
  /// The same in a look at the endpoint [engine.h].
  /// `is_waiting`: throws Failure (kLimit) if too much of other messages waits here.
  [[nodiscard]] std::optional<Message> take_from(runtime::Endpoint& endpoint, const Wanted& wanted,
                                                 bool is_waiting = false);
  /// result() and fold() of `ticket`, and they alone, get its results. Called in a look at the
  /// endpoint, before one can come.
  void reserve(const runtime::Endpoint& endpoint, const Ticket& ticket, const Reduction& reduction);
  /// What is reserved for these and was not taken, since the call has failed, others may take.
  void release(const std::vector<Ticket>& tickets);
  /// The result that `ticket` entitles `at` to, piece by piece. `kind`: kReduced or kAllreduced.
  [[nodiscard]] std::vector<Payload> result(const Ticket& ticket, Vnode at, Kind kind,
                                            const char* operation);
  /// Folds what arrives at the target of a user-defined reduction. `tickets`: of the vnodes held.
  /// If the result is for all it is made known, and what these get of it is taken as well.
  [[nodiscard]] Payload fold(const std::vector<Ticket>& tickets, const Reduction& reduction,
                             const char* operation);

  /// Calls `send`, and as long as it is refused with kLimit again whenever something has come in.
  [[nodiscard]] Status send_when_possible(const std::function<Status(runtime::Endpoint&)>& send,
                                          const char* operation);

  /// Throws what is wrong, if something is.
  void throw_unless_ok(const Status& status, const char* operation, Vnode vnode) const;
  [[nodiscard]] bool holds(Vnode vnode) const;
  [[nodiscard]] std::vector<Vnode> held() const;
  /// Of the whole job.
  [[nodiscard]] std::uint64_t vnodes() const;

  Engine engine;
  runtime::ReservedResults reserved;  ///< For collectives and votes [the engine's mutex].
  Handlers handlers;
  Steps steps;
  std::atomic<std::uint64_t> stops = 0;        ///< Calls of stop().
  std::atomic<std::uint64_t> stops_heard = 0;  ///< Of these, those by which a run() has ended.
  std::atomic<bool> is_stopped = false;        ///< One since the last run() began, or before that.
  std::atomic<bool> is_finished = false;       ///< Nothing but over() works.
};

}  // namespace phx
