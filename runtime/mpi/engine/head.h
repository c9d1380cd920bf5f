#pragma once

#include <cstdint>

namespace phx::mpi {

/// The highest tag of a part: whoever carries them may use higher ones.
inline constexpr std::uint32_t kLastTag = 0xfffffffd;

/// What stands before the bytes of a message between two processes [README.md, "Messages"]. All
/// processes of a job agree on byte order and layout.
struct Head {
  enum class Kind : std::uint32_t {
    kWhole,      ///< a short message; its bytes follow
    kAsk,        ///< a long message waits at its sender
    kGrant,      ///< the receiver has room for it
    kTaken,      ///< all of a long message has come, or a synchronous one has met its receive
    kWithdraw,   ///< the sender cancels
    kWithdrawn,  ///< the answer
    kCredit,     ///< so much of what came at once has met receives
  };
  Kind kind = Kind::kWhole;
  /// kWhole: kTaken is wanted (1), or it was cast (2); kWithdrawn: nobody had received it.
  std::uint32_t flag = 0;
  std::uint64_t context = 0;  ///< which communicator, and which of its two halves
  std::int32_t source = 0;    ///< the sender's rank
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;     ///< of the message; kGrant: so many are wanted
  std::uint64_t sender = 0;    ///< number of the send at its process
  std::uint64_t receiver = 0;  ///< number of the receive at its process
  /// kAsk: where a near rank may read the bytes, 0: nowhere; kCredit: of casts.
  std::uint64_t address = 0;
};

}  // namespace phx::mpi
