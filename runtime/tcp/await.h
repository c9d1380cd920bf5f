#pragma once

#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

namespace phx::tcp {

/// For co_await of an operation of Asio: its error comes as a value, in front of its result.
inline constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);

}  // namespace phx::tcp
