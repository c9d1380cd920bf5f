#pragma once

#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

#include "overlay/base/time.h"

namespace phx::tcp {

/// For co_await of an operation of Asio: its error comes as a value, in front of its result.
inline constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);

/// Of those who accept, when the system has no more descriptors; those in the handshake end
/// meanwhile.
inline constexpr Duration kPauseAfterFailure = 100ms;

}  // namespace phx::tcp
