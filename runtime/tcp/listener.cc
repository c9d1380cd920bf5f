#include "runtime/tcp/listener.h"

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/use_awaitable.hpp>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "runtime/tcp/await.h"
#include "runtime/tcp/descriptor.h"

namespace phx::tcp {
namespace {

using asio::ip::tcp;

Error open_error(const Address& address, const std::error_code& error) {
  const std::string place = to_string(address);
  if (error == asio::error::address_in_use) {
    return {ErrorCode::kBusy, "port taken: another program listens at " + place +
                                  "; choose another port, or 0 for any free one"};
  }
  if (error == asio::error::access_denied) {
    return {ErrorCode::kDenied,
            "not allowed to listen at " + place + "; ports below 1024 are for the administrator"};
  }
  return {ErrorCode::kBadInput,
          "cannot listen at " + place + ": " + error.message() +
              "; give a numeric address of this machine, e.g. 127.0.0.1:0 or 0.0.0.0:7000"};
}

}  // namespace

asio::ip::address counted_as(const asio::ip::address& from) {
  constexpr std::size_t kNetworkBytes = 8;
  if (from.is_v4()) return from;
  const asio::ip::address_v6 address = from.to_v6();
  if (address.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, address);
  auto bytes = address.to_bytes();
  std::fill(bytes.begin() + kNetworkBytes, bytes.end(), std::uint8_t{0});
  return asio::ip::address_v6(bytes);
}

struct Listener::Guest {
  tcp::socket socket;
  asio::ip::address from;
};

/// What the coroutines hold, so that none outlives what it uses.
struct Listener::Shared : std::enable_shared_from_this<Shared> {
  explicit Shared(const asio::any_io_executor& executor) : acceptor(executor), pause(executor) {}

  asio::awaitable<void> accept();
  asio::awaitable<void> prove(std::list<Guest>::iterator guest);
  void admit(tcp::socket socket);
  [[nodiscard]] std::list<Guest>::iterator one_too_many();
  void reject(const Error& error, const std::string& from) const {
    if (!closed) handlers.on_rejected(error, from);
  }

  tcp::acceptor acceptor;
  asio::steady_timer pause;
  MeshKey key{};
  Handshake::Identity self;
  Duration patience = kHandshakeTimeout;
  Handlers handlers;
  std::list<Guest> guests;  ///< Oldest first.
  bool closed = false;
};

asio::awaitable<void> Listener::Shared::accept() {
  const auto keep = shared_from_this();
  while (!closed) {
    auto [error, socket] = co_await acceptor.async_accept(kAwait);
    if (closed) break;
    if (!error) {
      admit(std::move(socket));
      continue;
    }
    if (error == asio::error::connection_aborted) continue;
    reject({ErrorCode::kLimit, "a connection cannot be accepted: " + error.message()}, "system");
    pause.expires_after(kPauseAfterFailure);
    co_await pause.async_wait(kAwait);
  }
}

/// The oldest of the host that has most; of several such hosts, of the one that came first.
std::list<Listener::Guest>::iterator Listener::Shared::one_too_many() {
  std::map<asio::ip::address, std::size_t> counts;
  std::size_t most = 0;
  for (const Guest& guest : guests) {
    if (guest.socket.is_open()) most = std::max(most, ++counts[counted_as(guest.from)]);
  }
  return std::ranges::find_if(guests, [&](const Guest& guest) {
    return guest.socket.is_open() && counts[counted_as(guest.from)] == most;
  });
}

void Listener::Shared::admit(tcp::socket socket) {
  std::error_code error;
  const auto from = socket.remote_endpoint(error);
  if (error) return;  // gone already
  if (guests.size() >= kUnprovedMax) {
    const auto oldest = one_too_many();
    if (oldest == guests.end()) return;  // All are closed, and will be gone in a moment.
    reject({ErrorCode::kLimit,
            "too many connections in the handshake, most of them from there; "
            "the oldest of these was closed"},
           oldest->from.to_string());
    oldest->socket.close(error);  // its coroutine ends, but only after we have returned
  }
  tune(socket);
  guests.push_back(Guest{std::move(socket), from.address()});
  asio::co_spawn(acceptor.get_executor(), prove(std::prev(guests.end())), asio::detached);
}

asio::awaitable<void> Listener::Shared::prove(std::list<Guest>::iterator guest) {
  const auto keep = shared_from_this();
  const Result<Hello> peer = co_await greet(
      guest->socket, Handshake(Handshake::Side::kAcceptor, key, self, fresh_nonce()), patience);
  Guest proved = std::move(*guest);
  guests.erase(guest);
  if (closed) co_return;
  if (peer.ok()) {
    handlers.on_proved(std::move(proved.socket), peer.value());
  } else {
    reject(peer.error(), proved.from.to_string());
  }
}

Result<std::unique_ptr<Listener>> Listener::open(asio::any_io_executor executor,
                                                 const Address& address) {
  std::error_code error;
  const bool any = address.name.empty() || address.name == "*";
  const auto name = any ? std::string("0.0.0.0")
                        : (address.name == "localhost" ? std::string("127.0.0.1") : address.name);
  const auto numeric = asio::ip::make_address(name, error);
  if (error) return open_error(address, error);
  const tcp::endpoint place(numeric, address.port);
  auto shared = std::make_shared<Shared>(executor);
  tcp::acceptor& acceptor = shared->acceptor;
  acceptor.open(place.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  // "::" is for both families, whatever is usual on this machine.
  if (!error && numeric.is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(place, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return open_error(address, error);
  close_on_exec(acceptor.native_handle());
  const std::uint16_t port = acceptor.local_endpoint(error).port();
  if (error) return open_error(address, error);
  return std::unique_ptr<Listener>(new Listener(std::move(shared), Address{name, port}));
}

Listener::Listener(std::shared_ptr<Shared> shared, Address address)
    : shared_(std::move(shared)), address_(std::move(address)) {}

void Listener::start(const MeshKey& key, const Handshake::Identity& self, Handlers handlers,
                     Duration patience) {
  shared_->patience = patience;
  shared_->key = key;
  shared_->self = self;
  shared_->handlers = std::move(handlers);
  asio::co_spawn(shared_->acceptor.get_executor(), shared_->accept(), asio::detached);
}

void Listener::close() {
  if (shared_->closed) return;
  shared_->closed = true;
  std::error_code ignored;
  shared_->acceptor.close(ignored);
  shared_->pause.cancel();
  for (Guest& guest : shared_->guests) guest.socket.close(ignored);
}

std::size_t Listener::unproved() const {
  return shared_->guests.size();
}

}  // namespace phx::tcp
