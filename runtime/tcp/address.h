#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overlay/base/result.h"

namespace phx::tcp {

/// Where a daemon listens, as people write it: "127.0.0.1:7000", "[::1]:7000", "lab3:7000".
struct Address {
  std::string name;        ///< A numeric address or a name to look up; without brackets.
  std::uint16_t port = 0;  ///< 0: any free one (only where one listens).
  friend bool operator==(const Address&, const Address&) = default;
};

/// "name:port", with brackets around an IPv6 address.
[[nodiscard]] std::string to_string(const Address& address);

/// Reads what to_string() writes. A missing ":port" means port 0.
[[nodiscard]] Result<Address> parse_address(const std::string& text);

/// Whether such a name is a numeric address of IPv6.
[[nodiscard]] bool is_v6(const std::string& name);

/// Whether others cannot connect to this address: "0.0.0.0", "::", "*" or nothing.
[[nodiscard]] bool is_wildcard(const Address& address);

/// Whether such a name, or numeric address, is said of the machine itself, by whoever says it.
[[nodiscard]] bool is_loopback(const std::string& name);

/// The numeric addresses of this machine's interfaces by which others can reach it, IPv4 first;
/// without loopback and link-local ones.
[[nodiscard]] std::vector<std::string> interface_addresses();

}  // namespace phx::tcp
