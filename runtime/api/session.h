#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/api/failure.h"
#include "runtime/api/message.h"
#include "runtime/api/options.h"
#include "runtime/api/session_collectives.h"
#include "runtime/api/values.h"
#include "runtime/api/vnode_state.h"

namespace phx {

/// This process's part of a job: it holds some of the job's vnodes and speaks for them. The mapping
/// changes at safe points and only there. The two ways to write a program, and the rules of each,
/// are in runtime/api/README.md.
///
/// Calls throw Failure; a call that waits throws one after its timeout, and says what it waited
/// for. Thread rule: any thread may call anything, but a safe point may not overlap with calls for
/// vnodes that depart in it; of handlers of run() that is seen to. Collective operations of a vnode
/// count in the order of their calls, so two threads that call some for the same vnodes have to
/// agree on an order themselves.
class Session : public SessionCollectives {
 public:
  /// Attaches. Throws Failure (kUnavailable, kDenied, kTimeout).
  explicit Session(const Options& options = {});
  /// finish(); but not if an exception passes: then the job fails when this process exits.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // --- Who is where: and vnodes(), held(), holds(). ---
  [[nodiscard]] ProcessorId processor() const;
  /// Where others may join the daemon inside this process: Options::join. Empty if there is none.
  [[nodiscard]] std::vector<std::string> endpoints() const;

  // --- Messages. `from`, `root`, and `Wanted::at` are held here. ---
  /// Delivered once, in order per (from, to), wherever `to` is. Waits at Options::send_bytes_max.
  template <class T>
  void send(Vnode from, Vnode to, const T& value, Tag tag = 0) {
    send_bytes(from, to, encode(value), tag);
  }
  void send_bytes(Vnode from, Vnode to, const Payload& payload, Tag tag);
  /// The oldest message that matches; waits for it. What cast() sends: `.kind = Kind::kBroadcast`.
  [[nodiscard]] Message recv(const Wanted& wanted = {});
  template <class T>
  [[nodiscard]] T recv(const Wanted& wanted) {
    return recv(wanted).as<T>();
  }
  /// The same without waiting.
  [[nodiscard]] std::optional<Message> try_recv(const Wanted& wanted = {});
  /// Sends to all vnodes of the job, which receive it with `.kind = Kind::kBroadcast`; in order per
  /// root. Nobody else has to call anything.
  template <class T>
  void cast(Vnode root, const T& value, Tag tag = 0) {
    cast_bytes(root, encode(value), tag);
  }
  void cast_bytes(Vnode root, const Payload& payload, Tag tag);

  // --- Collectives: see SessionCollectives. ---

  // --- Safe points: where vnodes may come and go. ---
  /// For programs in step: called by all processes once per iteration. May wait, as a barrier, but
  /// only when vnodes move; also while this process holds none. False: this process should end.
  [[nodiscard]] bool safe_point();
  /// For programs that are not in step: vnodes come and go right now. Waits while none is held.
  [[nodiscard]] bool local_safe_point();
  /// The next message of any kind for any vnode, with local safe points on the way. Nothing: this
  /// process should end (see over()), or `timeout` has passed.
  [[nodiscard]] std::optional<Message> next(std::optional<Duration> timeout = {});
  /// Calls `handler` for every next() until stop() or the end. Throws Failure (kTimeout) if nothing
  /// comes for Options::timeout.
  void run(const std::function<void(Message&)>& handler);
  /// Ends every run(), called by a handler or another thread, as soon as no handler runs in it. If
  /// there is none, the next run() returns at once.
  void stop();
  /// The job has ended well (a bad end is thrown by other calls), or no vnode will come any more.
  [[nodiscard]] bool over() const;

  // --- State of vnodes. ---
  /// How the state of vnodes moves; objects.h has the comfortable way. Several may be added, in the
  /// same order everywhere and before the first safe point.
  void add_state(VnodeState state);
  /// Low-level: ask for vnodes that nobody holds; give up some unasked; at safe points. What others
  /// hold is refused: the next safe point or next() throws Failure (kDenied); then repeat it.
  void assume(const std::vector<Vnode>& vnodes);
  void release(const std::vector<Vnode>& vnodes);

  // --- The end. ---
  /// This process is done with the job. No call but over() afterwards.
  void finish();
  /// Ends the job everywhere, for this reason. `code`: 1 to 255; anything else counts as 1.
  void abort(int code, const std::string& reason);

 private:
  int exceptions_;  ///< On their way when the session began.
};

}  // namespace phx
