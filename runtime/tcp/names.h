#pragma once

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/tcp/address.h"

namespace phx::tcp {

using Places = std::vector<asio::ip::tcp::endpoint>;
/// Blocks for as long as the system wants, on any thread. The one in use asks the system.
using LookUp = std::function<Result<Places>(const Address&)>;
[[nodiscard]] Result<Places> ask_system(const Address& address);

/// Names that are looked up at once by all of this process; further ones wait for these.
inline constexpr std::size_t kLookUpsMost = 16;

/// Where that is. A number is read at once; a name is looked up by a thread on which nobody ever
/// waits. kNotFound: it has no address, or none was found within `patience`.
[[nodiscard]] asio::awaitable<Result<Places>> find_places(Address address, Duration patience,
                                                          LookUp look_up = ask_system);

}  // namespace phx::tcp
