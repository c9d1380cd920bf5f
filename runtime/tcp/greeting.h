#pragma once

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <optional>
#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/tcp/dial_order.h"
#include "runtime/tcp/handshake.h"
#include "runtime/tcp/names.h"

namespace phx::tcp {

/// For looking a name up and for connecting, per address, and for the whole handshake. Whoever is
/// slower is cut off.
inline constexpr Duration kConnectTimeout = 2s;
inline constexpr Duration kHandshakeTimeout = 3s;

/// Exchanges hellos and proofs on a fresh connection, and returns what the peer, now proved, said.
/// No other byte of the peer is read. On failure, or if `socket` is closed meanwhile, the
/// connection is of no more use. Errors: those of Handshake; kTimeout; kUnavailable (connection
/// lost). `socket` must live until the coroutine has ended.
[[nodiscard]] asio::awaitable<Result<Hello>> greet(asio::ip::tcp::socket& socket,
                                                   Handshake handshake,
                                                   Duration timeout = kHandshakeTimeout);

/// What came out of the attempt to reach somebody.
struct Dialled {
  asio::ip::tcp::socket socket;
  Hello peer;
};
struct DialFailure {
  bool refused = false;  ///< Every address answered that nobody (or not the expected) is there.
  Error error;           ///< Names the last address tried.
};

/// Tries the addresses in order until one leads to a proved peer; kConnectTimeout each. For each
/// attempt a new handshake with `identity` is made. Either optional is filled, never both.
struct DialOutcome {
  std::optional<Dialled> reached;
  DialFailure failure;
};
[[nodiscard]] asio::awaitable<DialOutcome> dial(std::vector<std::string> addresses, MeshKey key,
                                                Handshake::Identity identity,
                                                LookUp look_up = ask_system);
/// The same with a head start for each address instead of turns: the first that leads to a proved
/// peer is taken, the attempts at the others are ended. For whoever may talk to any of them.
[[nodiscard]] asio::awaitable<DialOutcome> dial_any(std::vector<std::string> addresses, MeshKey key,
                                                    Handshake::Identity identity,
                                                    DialOrder::Options options = {},
                                                    LookUp look_up = ask_system);

/// Low latency, and no descriptor for processes that are started later.
void tune(asio::ip::tcp::socket& socket);

}  // namespace phx::tcp
