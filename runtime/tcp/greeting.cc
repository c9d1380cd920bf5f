#include "runtime/tcp/greeting.h"

#include <array>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/buffer.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <deque>
#include <exception>
#include <memory>
#include <utility>

#include "runtime/tcp/await.h"
#include "runtime/tcp/deadline.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/steady_now.h"

namespace phx::tcp {
namespace {

using asio::ip::tcp;

Error lost(const Deadline& deadline, const std::error_code& code) {
  if (deadline.expired()) {
    return {ErrorCode::kTimeout, "the other side did not complete the handshake in time"};
  }
  return {ErrorCode::kUnavailable, "connection lost during the handshake: " + code.message()};
}

asio::awaitable<Result<Hello>> greet_as_dialler(tcp::socket& socket, Handshake& handshake,
                                                const Deadline& deadline) {
  const auto [sent, sent_bytes] =
      co_await asio::async_write(socket, asio::buffer(handshake.hello()), kAwait);
  if (sent) co_return lost(deadline, sent);
  HelloBytes hello{};
  const auto [met, met_bytes] = co_await asio::async_read(socket, asio::buffer(hello), kAwait);
  if (met) co_return lost(deadline, met);
  const Status known = handshake.on_hello(hello);
  if (!known.ok()) co_return known.error();
  Proof proof{};
  const auto [got, got_bytes] = co_await asio::async_read(socket, asio::buffer(proof), kAwait);
  if (got) co_return lost(deadline, got);
  const Status proved = handshake.on_proof(proof);
  if (!proved.ok()) co_return proved.error();
  const Proof own = handshake.proof();
  const auto [done, done_bytes] = co_await asio::async_write(socket, asio::buffer(own), kAwait);
  if (done) co_return lost(deadline, done);
  co_return handshake.peer();
}

asio::awaitable<Result<Hello>> greet_as_acceptor(tcp::socket& socket, Handshake& handshake,
                                                 const Deadline& deadline) {
  HelloBytes hello{};
  const auto [met, met_bytes] = co_await asio::async_read(socket, asio::buffer(hello), kAwait);
  if (met) co_return lost(deadline, met);
  const Status known = handshake.on_hello(hello);
  if (!known.ok()) {
    // Our hello lets a Phoenix of another version or mesh say what is wrong; others get nothing.
    if (known.error().code != ErrorCode::kBadInput) {
      co_await asio::async_write(socket, asio::buffer(handshake.hello()), kAwait);
    }
    co_return known.error();
  }
  const Proof own = handshake.proof();
  const std::array<asio::const_buffer, 2> answer{asio::buffer(handshake.hello()),
                                                 asio::buffer(own)};
  const auto [sent, sent_bytes] = co_await asio::async_write(socket, answer, kAwait);
  if (sent) co_return lost(deadline, sent);
  Proof proof{};
  const auto [got, got_bytes] = co_await asio::async_read(socket, asio::buffer(proof), kAwait);
  if (got) co_return lost(deadline, got);
  const Status proved = handshake.on_proof(proof);
  if (!proved.ok()) co_return proved.error();
  co_return handshake.peer();
}

/// The socket may have been closed when all was done, but before we heard of that: at the deadline,
/// if this process had no processor for a while, or in favour of another connection.
Result<Hello> unless_closed(const Result<Hello>& peer, const tcp::socket& socket,
                            const Deadline& deadline) {
  if (!peer.ok() || socket.is_open()) return peer;
  return lost(deadline, asio::error::operation_aborted);
}

asio::awaitable<Result<Places>> places_of(const std::string& text, const LookUp& look_up) {
  const Result<Address> parsed = parse_address(text);
  if (!parsed.ok()) co_return parsed.error();
  co_return co_await find_places(parsed.value(), kConnectTimeout, look_up);
}

bool means_refused(const std::error_code& error) {
  return error == asio::error::connection_refused;
}

/// One address. Fills `outcome`.
asio::awaitable<void> dial_one(tcp::endpoint place, const MeshKey& key,
                               const Handshake::Identity& identity, DialOutcome& outcome) {
  tcp::socket socket(co_await asio::this_coro::executor);
  {
    const Deadline deadline(socket, kConnectTimeout);
    const auto [error] = co_await socket.async_connect(place, kAwait);
    if (error) {
      outcome.failure.refused = means_refused(error);
      outcome.failure.error =
          deadline.expired()
              ? Error{ErrorCode::kTimeout, "no answer"}
              : Error{ErrorCode::kUnavailable,
                      means_refused(error) ? "nobody listens there" : error.message()};
      co_return;
    }
  }
  tune(socket);
  Result<Hello> peer =
      co_await greet(socket, Handshake(Handshake::Side::kDialler, key, identity, fresh_nonce()));
  if (peer.ok()) {
    outcome.reached.emplace(Dialled{std::move(socket), peer.value()});
    co_return;
  }
  outcome.failure.refused = peer.error().code == ErrorCode::kNotFound;
  outcome.failure.error = peer.error();
}

/// Attempts at several addresses at once; shared by them and whoever waits for the outcome.
struct Attempts {
  explicit Attempts(const asio::any_io_executor& executor) : ended(executor) {}

  asio::steady_timer ended;  ///< Cancelled whenever one has.
  std::deque<asio::cancellation_signal> signals;
  std::size_t failures = 0;  ///< Not counted in the order yet.
  bool all_refused = true;
  DialOutcome outcome;

  void on_end(DialOutcome&& one) {
    ended.cancel();
    if (outcome.reached) return;  // Too late: the connection is closed.
    if (one.reached) {
      outcome.reached = std::move(one.reached);
      return;
    }
    ++failures;
    all_refused = all_refused && one.failure.refused;
    if (tells(outcome.failure.error) > tells(one.failure.error)) return;
    outcome.failure = std::move(one.failure);
  }
  /// What says that a mesh lives is kept; else that a name is not known, which says nothing.
  [[nodiscard]] static int tells(const Error& error) {
    if (error.code == ErrorCode::kBadVersion) return 3;
    if (error.code == ErrorCode::kDenied) return 2;
    return error.code == ErrorCode::kNotFound ? 1 : 0;
  }
};

}  // namespace

asio::awaitable<Result<Hello>> greet(tcp::socket& socket, Handshake handshake, Duration timeout) {
  const Deadline deadline(socket, timeout);
  if (handshake.side() == Handshake::Side::kDialler) {
    const Result<Hello> acceptor = co_await greet_as_dialler(socket, handshake, deadline);
    co_return unless_closed(acceptor, socket, deadline);
  }
  const Result<Hello> dialler = co_await greet_as_acceptor(socket, handshake, deadline);
  co_return unless_closed(dialler, socket, deadline);
}

asio::awaitable<DialOutcome> dial(std::vector<std::string> addresses, MeshKey key,
                                  Handshake::Identity identity, LookUp look_up) {
  DialOutcome outcome;
  outcome.failure.error = {ErrorCode::kBadInput, "no address to connect to"};
  bool all_refused = !addresses.empty();
  for (const std::string& address : addresses) {
    const Result<Places> places = co_await places_of(address, look_up);
    if (!places.ok()) {
      outcome.failure.error = places.error();
      all_refused = false;
      continue;
    }
    for (const tcp::endpoint& place : places.value()) {
      co_await dial_one(place, key, identity, outcome);
      if (outcome.reached) co_return outcome;
      outcome.failure.error.what = address + ": " + outcome.failure.error.what;
      all_refused = all_refused && outcome.failure.refused;
    }
  }
  outcome.failure.refused = all_refused;
  co_return outcome;
}

asio::awaitable<DialOutcome> dial_any(std::vector<std::string> addresses, MeshKey key,
                                      Handshake::Identity identity, DialOrder::Options options,
                                      LookUp look_up) {
  const auto executor = co_await asio::this_coro::executor;
  const auto attempts = std::make_shared<Attempts>(executor);
  attempts->outcome.failure.error = {ErrorCode::kBadInput, "no address to connect to"};
  attempts->all_refused = !addresses.empty();
  DialOrder order(addresses.size(), options);
  while (!attempts->outcome.reached && !order.is_over()) {
    while (const auto next = order.begin(steady_now())) {
      std::vector<std::string> one(1, addresses[*next]);
      asio::co_spawn(
          executor, dial(std::move(one), key, identity, look_up),
          asio::bind_cancellation_slot(attempts->signals.emplace_back().slot(),
                                       [attempts](const std::exception_ptr&, DialOutcome done) {
                                         attempts->on_end(std::move(done));
                                       }));
    }
    const auto due = order.next_deadline();
    attempts->ended.expires_at(due ? asio::steady_timer::time_point(due->time_since_epoch())
                                   : asio::steady_timer::time_point::max());
    co_await attempts->ended.async_wait(kAwait);
    for (; attempts->failures > 0; --attempts->failures) order.on_failed();
  }
  for (asio::cancellation_signal& signal : attempts->signals) {
    signal.emit(asio::cancellation_type::terminal);
  }
  attempts->outcome.failure.refused = attempts->all_refused;
  co_return std::move(attempts->outcome);
}

void tune(tcp::socket& socket) {
  std::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  close_on_exec(socket.native_handle());
}

}  // namespace phx::tcp
