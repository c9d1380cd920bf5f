#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "runtime/tcp/shared_blocks.h"
#include "runtime/tcp/shared_pools.h"
#include "runtime/wire/codec.h"
#include "runtime/wire/framing.h"

namespace phx::tcp {

/// One end's part in passing long payloads between two processes of a machine without writing them
/// through the socket: a reference goes instead [README.md "Loans"]. The bytes are copied into
/// shared memory, unless they lie there already, and lent. Where the system does not allow it, or
/// all blocks are in use, the bytes go through the socket as ever. Not thread-safe: one owner.
class Loans {
 public:
  /// Shorter payloads cost less through the socket.
  static constexpr std::size_t kLongBytes = std::size_t{32} << 10U;
  /// Pools that one end may offer the other [limit].
  static constexpr std::size_t kPools = 64;

  /// `family`: of what this end sends. `pools`: of this process; must live as long. `socket`:
  /// connected to the other process; -1: with a daemon inside.
  Loans(wire::Family family, SharedPools& pools, int socket);
  /// Nothing is lent, and no offer is accepted: the other process is of another machine.
  void disable() { is_disabled_ = true; }

  /// Replaces the payload of a message that is to be sent by a reference, if that is worth it and
  /// possible now; whether it was.
  bool apply(wire::Encoded& message);
  /// It would be worth it, and could be possible soon: when a block comes back, or the answer of
  /// the other end arrives. Asks for that answer.
  [[nodiscard]] bool is_worth_waiting(const wire::Encoded& message);
  /// What the payload of a message that came with a reference really is. kBadInput: nothing.
  [[nodiscard]] Result<Payload> resolve(const Payload& reference);
  /// The same of a frame without header: one of the other end's Loans for this one.
  [[nodiscard]] Status on_control(const Payload& reference);
  /// What is to be sent to the other end's Loans, in front of everything else.
  [[nodiscard]] std::vector<wire::Encoded> take_controls() { return std::exchange(controls_, {}); }
  /// The pools of processes that have died are let go, as soon as nothing of them can follow.
  void forget_the_dead();
  /// Where payloads that will probably be lent should be put; null if there is no such place.
  [[nodiscard]] std::shared_ptr<BlockPool> pool() const;

 private:
  struct Reference;
  /// A pool that was offered; its number is its place.
  struct Offered {
    std::uint64_t token = 0;                     ///< 0: the place is free.
    std::optional<std::uint32_t> borrower = {};  ///< The other process's, once it has accepted.
  };
  struct Borrowed {
    std::shared_ptr<BorrowedBlocks> pool = {};
    bool is_returned = false;  ///< The other end was told that we need it no more.
  };
  void say(const Reference& reference);
  [[nodiscard]] bool is_lendable(const wire::Encoded& message) const;
  [[nodiscard]] std::optional<Reference> lend(const Payload& payload);
  [[nodiscard]] std::optional<Reference> lend(const SharedPools::Found& found, std::size_t size);
  [[nodiscard]] std::optional<std::size_t> offer(const SharedMapping& mapping, int descriptor);
  [[nodiscard]] bool is_refused(const SharedMapping& mapping) const;
  [[nodiscard]] bool may_lend(const SharedPools::Found& found);
  void on_offer(const Reference& offer);

  wire::Family family_;
  SharedPools& pools_;
  pid_t peer_ = 0;  ///< The other process; 0: not known.
  bool is_disabled_ = false;
  std::vector<Offered> offered_;
  std::deque<std::uint64_t> refused_;  ///< Tokens of what was refused, the last kPools.
  std::vector<Borrowed> borrowed_;     ///< By the other end's numbers.
  std::vector<wire::Encoded> controls_;
};

}  // namespace phx::tcp
