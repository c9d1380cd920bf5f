#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "overlay/base/payload.h"
#include "runtime/mpi/engine/head.h"
#include "runtime/mpi/engine/lanes.h"
#include "runtime/mpi/engine/request.h"

namespace phx::mpi {

/// A message that came before its receive.
struct Arrived {
  int from = 0;  ///< process
  Head head;
  Payload bytes;  ///< of a short one
};

/// Receives that wait for messages, and messages that wait for receives, per context and source;
/// both in order. What waits of other sources costs nothing, unless a receive is for any source.
///
/// Guarantees: messages of one sender in one context meet receives in the order of sending.
class Matching {
 public:
  /// The oldest message for it, which then waits no longer.
  [[nodiscard]] std::optional<Arrived> take(const Wanted& wanted);
  /// The same, and it goes on waiting. Valid until the next call.
  [[nodiscard]] const Arrived* look(const Wanted& wanted);
  void post(Ref<ReceiveRequest> receive);
  /// The oldest receive for it, which then waits no longer; null if there is none.
  [[nodiscard]] Ref<ReceiveRequest> take(const Head& head);
  void keep(Arrived arrived);
  /// A receive, or a message, waits no longer. False, or empty: it did not wait.
  bool withdraw(const ReceiveRequest& receive);
  std::optional<Arrived> withdraw(int from, const Head& withdrawal);
  /// Whether a receive waits in this context.
  [[nodiscard]] bool has_receives(std::uint64_t context) const;
  /// Nobody will name this context again; unless something still waits in it.
  void forget(std::uint64_t context);
  /// Contexts that something is remembered of.
  [[nodiscard]] std::size_t contexts() const { return halves_.size(); }
  /// Bytes of messages that wait for receives.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// How often something that waited was looked at.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

 private:
  using Messages = Lanes<Arrived>;
  struct Half {
    Lanes<Ref<ReceiveRequest>> receives;
    Messages messages;
  };
  [[nodiscard]] Messages::Item* find(Half& half, const Wanted& wanted);
  Arrived take_out(Half& half, Messages::Item& message);

  std::unordered_map<std::uint64_t, Half> halves_;
  std::size_t bytes_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace phx::mpi
