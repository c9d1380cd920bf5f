#pragma once

#include "overlay/base/time.h"

// Whether the machine at the other end of a tool's connection is there. A program there that is
// stopped is: its system answers for it [runtime/tcp/README.md, "Tools that are gone"].
namespace phx::tcp {

/// One that has not answered for so long is gone.
inline constexpr Duration kPeerSilence = 15s;

/// The system asks the peer's while nothing is sent, and ends the connection after kPeerSilence.
void watch_peer(int socket);
/// The same while something is sent. Only for a peer that always reads: one that does not would be
/// given up, too.
void expect_reader(int socket);

/// What was sent, or was to be sent, to a peer that may stop reading finds nobody.
[[nodiscard]] bool is_peer_gone(int socket);
/// `unanswered`: attempts in a row; `silence`: since it last answered.
[[nodiscard]] bool means_gone(int unanswered, Duration silence);

}  // namespace phx::tcp
