#include "runtime/tcp/own_addresses.h"

#include <algorithm>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <system_error>
#include <utility>

#include "overlay/base/result.h"

namespace phx::tcp {
namespace {

bool leads_to(const Address& bound, const Places& places,
              const std::vector<std::string>& interfaces) {
  std::error_code failure;
  return std::ranges::any_of(places, [&](const asio::ip::tcp::endpoint& place) {
    const asio::ip::address address = place.address();
    if (!is_wildcard(bound)) return asio::ip::make_address(bound.name, failure) == address;
    return address.is_loopback() ||
           std::ranges::find(interfaces, address.to_string()) != interfaces.end();
  });
}

asio::awaitable<void> look(Address wanted, Duration patience, LookUp look_up, Places& places) {
  Result<Places> found = co_await find_places(std::move(wanted), patience, std::move(look_up));
  if (found.ok()) places = std::move(found).value();
}

}  // namespace

std::vector<std::string> without_own(const std::vector<std::string>& all, const Here& here,
                                     Duration patience, const LookUp& look_up) {
  asio::io_context io;
  std::vector<Places> found(all.size());
  const auto is_said = [&](const std::string& text) {
    return std::ranges::find(here.endpoints, text) != here.endpoints.end();
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Result<Address> wanted = parse_address(all[i]);
    const bool may_lead = wanted.ok() && here.bound.port != 0 &&
                          wanted.value().port == here.bound.port && !is_said(all[i]);
    if (!may_lead) continue;
    asio::co_spawn(io, look(wanted.value(), patience, look_up, found[i]), asio::detached);
  }
  io.run();
  const std::vector<std::string> interfaces = interface_addresses();
  std::vector<std::string> others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_own = is_said(all[i]) || leads_to(here.bound, found[i], interfaces);
    if (!is_own) others.push_back(all[i]);
  }
  return others;
}

}  // namespace phx::tcp
