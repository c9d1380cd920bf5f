#include "runtime/tcp/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <system_error>

namespace phx::tcp {
namespace {

Error bad_address(const std::string& text) {
  return {ErrorCode::kBadInput,
          "\"" + text + "\" is not an address; write ADDRESS:PORT, e.g. 127.0.0.1:7000"};
}

std::string numeric(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    const auto bits = ntohl(v4->sin_addr.s_addr);
    if ((bits >> 16U) == 0xa9fe) return "";  // 169.254/16: link-local
    return inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size()) != nullptr ? text.data()
                                                                                  : "";
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) return "";
  return inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size()) != nullptr ? text.data()
                                                                                  : "";
}

}  // namespace

std::string to_string(const Address& address) {
  return (is_v6(address.name) ? "[" + address.name + "]" : address.name) + ":" +
         std::to_string(address.port);
}

Result<Address> parse_address(const std::string& text) {
  Address address;
  std::string port;
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string::npos) return bad_address(text);
    address.name = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') return bad_address(text);
  } else {
    const std::size_t colon = text.rfind(':');
    if (colon != text.find(':')) return bad_address(text);  // IPv6 needs its brackets
    address.name = text.substr(0, colon);
    if (colon != std::string::npos) port = text.substr(colon);
  }
  if (port.empty()) return address;
  const char* const end = port.data() + port.size();
  const auto parsed = std::from_chars(port.data() + 1, end, address.port);
  if (parsed.ec != std::errc() || parsed.ptr != end || port.size() < 2) return bad_address(text);
  return address;
}

bool is_loopback(const std::string& name) {
  return name == "localhost" || name == "::1" || name.starts_with("127.");
}

bool is_v6(const std::string& name) {
  return name.find(':') != std::string::npos;
}

bool is_wildcard(const Address& address) {
  return address.name.empty() || address.name == "*" || address.name == "0.0.0.0" ||
         address.name == "::";
}

std::vector<std::string> interface_addresses() {
  ifaddrs* first = nullptr;
  std::vector<std::string> v4;
  std::vector<std::string> v6;
  if (getifaddrs(&first) != 0) return v4;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_UP) == 0) continue;
    if ((at->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    std::string text = numeric(at->ifa_addr);
    if (!text.empty()) (family == AF_INET ? v4 : v6).push_back(std::move(text));
  }
  freeifaddrs(first);
  v4.insert(v4.end(), v6.begin(), v6.end());
  return v4;
}

}  // namespace phx::tcp
