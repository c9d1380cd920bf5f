#include "runtime/tcp/client.h"

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "runtime/tcp/address.h"
#include "runtime/tcp/connection.h"
#include "runtime/tcp/greeting.h"
#include "runtime/tcp/steady_now.h"
#include "runtime/tcp/tool_socket.h"

namespace phx::tcp {

struct ToolClient::Link {
  Link() = default;
  ~Link() {
    if (connection) connection->close();
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  Loop loop;
  ReadBuffer buffer;
  wire::Encoder encoder;
  wire::Decoder decoder;
  std::shared_ptr<Connection> connection;
  ProcessorId daemon;
  std::string endpoint;
  std::deque<runtime::ClientReply> replies;
  std::optional<Error> over;  ///< Why nothing more will come.

  [[nodiscard]] Status on_frame(std::span<const std::byte> header, Payload payload) {
    auto reply = decoder.client_reply(header, std::move(payload));
    if (!reply.ok()) return reply.error();
    replies.push_back(std::move(reply).value());
    return success();
  }
  void adopt(Dialled&& dialled) {
    daemon = dialled.peer.self;
    std::error_code lost_already;
    const auto place = dialled.socket.remote_endpoint(lost_already);
    endpoint = to_string(Address{place.address().to_string(), place.port()});
    watch_peer(dialled.socket.native_handle());
    expect_reader(dialled.socket.native_handle());
    connection = std::make_shared<Connection>(
        loop, descriptor_of(std::move(dialled.socket)), wire::Family::kClientReply, buffer,
        Connection::Handlers{
            .on_frame = [this](std::span<const std::byte> header,
                               Payload payload) { return on_frame(header, std::move(payload)); },
            .on_batch_end = [] {},
            .on_closed = [this](const Error& why) { over = why; }});
    connection->start();
  }
};

ToolClient::ToolClient(std::unique_ptr<Link> link) : link_(std::move(link)) {}
ToolClient::ToolClient(ToolClient&&) noexcept = default;
ToolClient& ToolClient::operator=(ToolClient&&) noexcept = default;
ToolClient::~ToolClient() = default;

Result<ToolClient> ToolClient::connect(const std::vector<std::string>& endpoints,
                                       const MeshKey& key, const std::function<void()>& on_slow) {
  constexpr auto kSlow = 2s;
  auto link = std::make_unique<Link>();
  std::optional<DialOutcome> done;
  const Handshake::Identity tool{.role = Role::kClient, .self = {}, .expected = {}};
  asio::co_spawn(
      link->loop.io(), dial_any(endpoints, key, tool),
      [&done](const std::exception_ptr&, DialOutcome outcome) { done = std::move(outcome); });
  link->loop.touch();
  const Instant slow = steady_now() + kSlow;
  for (Instant now = steady_now(); !done && now < slow; now = steady_now()) {
    link->loop.run_one(slow - now);
  }
  if (on_slow && !done) on_slow();
  while (!done) link->loop.run_one(kForever);
  link->loop.touch();  // the other attempts end
  link->loop.run_one(Duration::zero());
  DialOutcome& outcome = *done;
  if (!outcome.reached) {
    Error error = outcome.failure.error;
    const bool is_there = error.code == ErrorCode::kDenied || error.code == ErrorCode::kBadVersion;
    const bool says_itself = is_there || error.code == ErrorCode::kNotFound;
    if (!says_itself && !outcome.failure.refused) error.code = ErrorCode::kTimeout;
    return error;
  }
  link->adopt(std::move(*outcome.reached));
  return ToolClient(std::move(link));
}

Status ToolClient::send(const runtime::ClientRequest& request) {
  link_->loop.run_one(Duration::zero());
  // What has come before the end may say why.
  if (link_->over) return link_->replies.empty() ? Status(*link_->over) : success();
  link_->connection->send(link_->encoder.encode(request));
  link_->connection->flush();
  return success();
}

Result<runtime::ClientReply> ToolClient::receive(Duration timeout) {
  const bool forever = timeout == kForever;
  const Instant until = forever ? Instant::max() : steady_now() + timeout;
  link_->loop.run_one(Duration::zero());
  while (link_->replies.empty()) {
    if (link_->over) return *link_->over;
    if (forever) {
      link_->loop.run_one(kForever);
      continue;
    }
    const Duration left = until - steady_now();
    if (left <= Duration::zero()) {
      return Error{ErrorCode::kTimeout,
                   "the daemon has not answered in time; is it overloaded, or "
                   "stopped? See `phoenix status`"};
    }
    link_->loop.run_one(left);
  }
  runtime::ClientReply reply = std::move(link_->replies.front());
  link_->replies.pop_front();
  return reply;
}

ProcessorId ToolClient::daemon() const {
  return link_->daemon;
}

const std::string& ToolClient::endpoint() const {
  return link_->endpoint;
}

int ToolClient::descriptor() const {
  return link_->loop.descriptor();
}

}  // namespace phx::tcp
