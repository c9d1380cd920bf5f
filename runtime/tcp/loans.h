#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "runtime/tcp/shared_blocks.h"
#include "runtime/wire/codec.h"
#include "runtime/wire/framing.h"

namespace phx::tcp {

/// One end's part in passing long payloads between an application and its daemon without writing
/// them through the socket: a reference goes instead [README.md "Loans"]. The bytes are copied into
/// shared memory, unless they lie there already, and lent. Where the system does not allow it, or
/// all blocks are in use, the bytes go through the socket as ever. Not thread-safe: one owner.
class Loans {
 public:
  /// Shorter payloads cost less through the socket.
  static constexpr std::size_t kLongBytes = std::size_t{32} << 10U;

  /// `family`: of what this end sends; `socket`: connected to the other process.
  Loans(wire::Family family, int socket);

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
  /// Where payloads that will probably be lent should be put; null if there is no such place.
  [[nodiscard]] const std::shared_ptr<BlockPool>& pool() const { return pool_; }

 private:
  struct Reference;
  void say(const Reference& reference);
  void open_pool();
  [[nodiscard]] bool is_lendable(const wire::Encoded& message) const;
  [[nodiscard]] std::optional<Reference> lend(const Payload& payload);

  wire::Family family_;
  pid_t peer_ = 0;                   ///< The other process; 0: unknown.
  std::shared_ptr<BlockPool> pool_;  ///< Ours.
  bool is_refused_ = false;          ///< No pool is to be had.
  bool is_accepted_ = false;         ///< The other process has opened our pool.
  std::shared_ptr<BorrowedBlocks> borrowed_;
  std::vector<wire::Encoded> controls_;
};

}  // namespace phx::tcp
