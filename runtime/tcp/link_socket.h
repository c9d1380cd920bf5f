#pragma once

#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>

namespace phx::tcp {

/// Whether a connection between these two addresses stays inside this machine: an address that both
/// ends have is one of this machine.
[[nodiscard]] bool is_within_machine(const asio::ip::address& one, const asio::ip::address& other);

/// Tells the system how to treat a link, whose connected socket this is [README.md, "States of a
/// connection"]; whether it stays inside this machine.
bool prepare_link(asio::ip::tcp::socket& socket);

}  // namespace phx::tcp
