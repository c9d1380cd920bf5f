// What the driver's connections bring in, and the effects that go out through them.
#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <cerrno>
#include <type_traits>
#include <utility>

#include "runtime/tcp/driver_core.h"
#include "runtime/tcp/library_path.h"
#include "runtime/tcp/link_socket.h"
#include "runtime/tcp/tool_socket.h"

namespace phx::tcp {

using Level = runtime::Note::Level;
using Header = std::span<const std::byte>;

namespace {

/// How often a long frame on its way is reported as a sign of life.
constexpr Duration kActivityPeriod = 100ms;

constexpr Duration kStopTimeout = 3s;  ///< For connections to drain at the end.

/// While so many connections end, one that finds no room is closed without a word.
constexpr std::size_t kDrainingMax = 256;

constexpr const char* kDoesNotRead = "it did not read what it was sent: 64 MiB waited";

/// Further applications go on through their sockets: the memory of the daemon is limited.
constexpr std::size_t kApplicationsWithRings = 64;

/// Effects that begin nothing at Asio's objects.
template <class Effect>
constexpr bool is_plain =
    std::is_same_v<Effect, runtime::Transmit> || std::is_same_v<Effect, runtime::ToApp> ||
    std::is_same_v<Effect, runtime::Note> || std::is_same_v<Effect, runtime::Reply>;

}  // namespace

TcpDriver::Core::ConnectionPtr TcpDriver::Core::connect(Descriptor socket, wire::Family family,
                                                        Connection::Handlers handlers,
                                                        PayloadWays ways) {
  handlers.on_batch_end = [this] { end_batch(); };
  return std::make_shared<Connection>(loop_, std::move(socket), family, read_buffer_,
                                      std::move(handlers), std::move(ways));
}

void TcpDriver::Core::forget_the_dead() {
  for (const auto& [id, connection] : links_) connection->forget_the_dead();
  for (const auto& [id, connection] : applications_) connection->forget_the_dead();
}

void TcpDriver::Core::add_link(asio::ip::tcp::socket socket, ProcessorId peer, bool dialled) {
  const LinkId link{peer, ++last_link_};
  const bool is_near = prepare_link(socket);
  constexpr auto kFamily = wire::Family::kFrame;
  auto loans = std::make_unique<Loans>(kFamily, lent_.pools(), -1);
  if (!is_near || !options_.lends_on_links) loans->disable();
  const auto connection = connect(
      descriptor_of(std::move(socket)), kFamily,
      {.on_frame = [this, link](Header header, Payload payload) -> Status {
         auto frame = decoder_.frame(header, std::move(payload));
         if (!frame.ok()) return frame.error();
         in_batch_ = true;
         step([&](runtime::Daemon& daemon, Instant now) {
           daemon.on_frame(now, link, std::move(frame).value());
         });
         return success();
       },
       .on_batch_end = {},
       .on_closed =
           [this, link](const Error& why) {
             if (links_.erase(link) == 0) return on_drained();
             note(why.code == ErrorCode::kUnavailable ? Level::kDebug : Level::kWarn, "link-lost",
                  "peer=" + to_string(link.peer) + " why=\"" + why.what + "\"");
             step([&](runtime::Daemon& daemon, Instant now) { daemon.on_link_down(now, link); });
           },
       .on_part =
           [this, link, told_at = Instant{}]() mutable {
             if (steady_now() - told_at < kActivityPeriod) return;
             told_at = steady_now();
             step([&](runtime::Daemon& d, Instant now) { d.on_link_activity(now, link); });
           },
       .on_drained =
           [this, link](std::size_t parts) {
             step([&](runtime::Daemon& d, Instant now) { d.on_link_drained(now, link, parts); });
           }},
      {.memory = [this](std::size_t bytes) { return lent_.room_for(bytes); },
       .loans = std::move(loans),
       .rings = {}});
  links_[link] = connection;
  step([&](runtime::Daemon& daemon, Instant now) { daemon.on_link_up(now, link, dialled); });
  connection->start();
}

/// Who finds no room is told so, and not heard.
void TcpDriver::Core::adopt(Descriptor socket) {
  if (stop_) return;
  const bool has_room = applications_.size() < options_.applications_max;
  const Error full{ErrorCode::kLimit, "too many applications are attached"};
  if (!has_room) on_rejected(full, "local");
  if (!has_room && draining_ >= kDrainingMax) return;
  const ApplicationId id{++last_application_};
  constexpr auto kFamily = wire::Family::kToApplication;
  auto loans = std::make_unique<Loans>(kFamily, lent_.pools(), socket.get());
  std::unique_ptr<Rings> rings;
  const bool may_have_rings = has_room && applications_.size() < kApplicationsWithRings;
  if (options_.offers_rings && may_have_rings) rings = Rings::make();
  if (!rings) note(Level::kDebug, "rings-not-offered", "application=" + std::to_string(id.value));
  const auto connection =
      connect(std::move(socket), wire::Family::kToDaemon, application_handlers(id),
              {.memory = {}, .loans = std::move(loans), .rings = std::move(rings)});
  applications_[id] = connection;
  if (!has_room) {
    connection->start();
    runtime::AppAttached refusal;
    refusal.refusal = full.what;
    queue(connection, runtime::ToApplication(std::move(refusal)));
    let_drain(applications_, id);
    return end_batch();
  }
  const bool is_awaited = first_words_.next_deadline().has_value();
  first_words_.expect(steady_now(), id);
  if (!is_awaited) await_first_words();
  connection->pause_reading(inside_.is_held_up);
  connection->start();
}

Connection::Handlers TcpDriver::Core::application_handlers(ApplicationId id) {
  return {
      .on_frame = [this, id, is_known = false](Header header, Payload payload) mutable -> Status {
        auto message = decoder_.to_daemon(header, std::move(payload));
        if (!message.ok()) return message.error();
        if (!is_known && std::holds_alternative<runtime::AppAttach>(message.value())) {
          is_known = true;
          first_words_.forget(id);
        }
        in_batch_ = true;
        step([&](runtime::Daemon& daemon, Instant now) {
          daemon.on_app_message(now, id, std::move(message).value());
        });
        return success();
      },
      .on_batch_end = {},
      .on_closed =
          [this, id](const Error& why) {
            unread_.erase(id);
            first_words_.forget(id);
            if (applications_.erase(id) == 0) return on_drained();
            if (why.code != ErrorCode::kUnavailable) on_rejected(why, "local");
            step([&](runtime::Daemon& daemon, Instant now) { daemon.on_app_down(now, id); });
          }};
}

/// The timer runs on when all have come: for 10 s at most, and not again.
void TcpDriver::Core::await_first_words() {
  const auto next = first_words_.next_deadline();
  if (!next || stop_) return;
  first_word_timer_.expires_after(*next - steady_now());
  first_word_timer_.async_wait([this](const std::error_code& error) {
    if (error || stop_) return;
    for (const ApplicationId id : first_words_.take_late(steady_now(), !inside_.is_held_up)) {
      const auto found = applications_.find(id);
      if (found == applications_.end()) continue;
      const ConnectionPtr connection = found->second;  // It takes itself out of the map.
      connection->fail({ErrorCode::kTimeout, "it has not said who it is within 10 s"});
      static_assert(FirstWords::kPatience == 10s);
    }
    await_first_words();
  });
}

void TcpDriver::Core::on_inside(std::span<runtime::ToDaemon> messages, bool may_join) {
  if (!inside_.is_open || stop_) return;
  if (inside_.id == ApplicationId{}) {
    inside_.id = ApplicationId{++last_application_};
    if (lent_.pools().own()) lent_.on_use();
  }
  const Instant now = steady_now();
  for (runtime::ToDaemon& message : messages) {
    if (stop_) return;
    in_batch_ = true;
    daemon_->on_app_message(now, inside_.id, std::move(message));
    execute();
  }
  if (!may_join) return end_batch();
  in_batch_ = false;
  rearm();
  regulate();
  std::erase_if(unflushed_, [now](const ConnectionPtr& connection) {
    if (connection->is_in_burst(now)) return false;
    connection->flush();
    return true;
  });
}

void TcpDriver::Core::flush() {
  if (!unflushed_.empty()) end_batch();
}

void TcpDriver::Core::on_inside_gone() {
  if (inside_.id == ApplicationId{} || !std::exchange(inside_.is_open, false)) return;
  step([this](runtime::Daemon& daemon, Instant now) { daemon.on_app_down(now, inside_.id); });
}

/// Who finds no room is told so, and not heard.
void TcpDriver::Core::add_client(asio::ip::tcp::socket socket, bool has_room) {
  const ClientId id{++last_client_};
  watch_peer(socket.native_handle());
  const auto connection =
      connect(descriptor_of(std::move(socket)), wire::Family::kClientRequest,
              {.on_frame = [this, id](Header header, Payload payload) -> Status {
                 auto request = decoder_.client_request(header, std::move(payload));
                 if (!request.ok()) return request.error();
                 in_batch_ = true;
                 loop_.touch();  // turns are Asio's
                 turns_.take(id, std::move(request).value());
                 return success();
               },
               .on_batch_end = {},
               .on_closed =
                   [this, id](const Error& why) {
                     turns_.drop(id);
                     const auto found = clients_.find(id);
                     if (found == clients_.end()) return on_drained();
                     const int by = found->second->broken_by();
                     const bool is_gone = why.code == ErrorCode::kTimeout || by == ETIMEDOUT;
                     const bool is_broken = is_gone || by != 0;
                     clients_.erase(found);
                     const bool is_dropped = !is_gone && why.code != ErrorCode::kUnavailable;
                     const bool is_full = why.code == ErrorCode::kLimit;
                     if (is_full) note(Level::kWarn, "tool-dropped", "why=\"" + why.what + "\"");
                     if (is_dropped && !is_full) on_rejected(why, "tool");
                     step([&](runtime::Daemon& daemon, Instant now) {
                       const std::string reason = is_dropped ? why.what : "";
                       daemon.on_client_down(now, id, {reason, is_broken && !is_dropped, is_gone});
                     });
                   }});
  clients_[id] = connection;
  connection->start();
  if (has_room) return;
  const runtime::Done refusal{to_string(self()) + " has " + std::to_string(kClientsMax) +
                              " tools connected, as many as it takes"};
  queue(connection, runtime::ClientReply{refusal});
  let_drain(clients_, id);
  end_batch();
}

void TcpDriver::Core::execute() {
  auto effects = daemon_->take_effects();
  for (runtime::Effect& effect : effects) {
    std::visit(
        [this]<class Wanted>(Wanted& wanted) {
          if (!is_plain<Wanted>) loop_.touch();
          handle(wanted);
        },
        effect);
  }
  daemon_->give_back(std::move(effects));
  if (!stop_ && !in_batch_) end_batch();
}

void TcpDriver::Core::end_batch() {
  in_batch_ = false;
  // A flush queues nothing, so the list stays as it is, and keeps its room.
  for (const ConnectionPtr& connection : unflushed_) connection->flush();
  unflushed_.clear();
  if (stop_) return;
  await_arrivals();
  rearm();
  regulate();
}

/// Tells the daemon whose replies have arrived.
void TcpDriver::Core::look_at_tools() {
  std::vector<ClientId> settled;
  std::vector<ClientId> taken;
  const bool asks = arrivals_.asks(steady_now());
  for (const ClientId id : arrivals_.awaited()) {
    const auto found = clients_.find(id);
    const bool has_arrived = found != clients_.end() && found->second->has_arrived();
    if (has_arrived) taken.push_back(id);
    if (has_arrived || found == clients_.end()) {
      settled.push_back(id);
    } else if (asks && is_peer_gone(found->second->descriptor())) {
      found->second->fail({ErrorCode::kTimeout, "its machine does not answer"});
    }
  }
  arrivals_.on_look(steady_now(), settled);
  for (const ClientId id : taken) {
    step([&](runtime::Daemon& daemon, Instant now) { daemon.on_client_took(now, id); });
  }
  await_arrivals();
}

/// A look that is due earlier than the one that is waited for takes its place.
void TcpDriver::Core::await_arrivals() {
  const auto due = arrivals_.next_deadline();
  if (!due || stop_ || (look_due_ && *look_due_ <= *due)) return;
  look_due_ = due;
  loop_.touch();
  look_timer_.expires_after(*due - steady_now());
  look_timer_.async_wait([this](const std::error_code& error) {
    if (error || stop_) return;
    look_due_.reset();
    look_at_tools();
  });
}

void TcpDriver::Core::rearm() {
  const std::optional<Instant> next = daemon_->next_deadline();
  if (!next || armed_ == next) return;
  armed_ = next;
  loop_.set_deadline(*next, [this] {
    armed_.reset();
    step([](runtime::Daemon& daemon, Instant now) { daemon.on_deadline(now); });
  });
}

void TcpDriver::Core::regulate() {
  const bool congested = daemon_->congested();
  if (congested == inside_.is_held_up) return;
  inside_.is_held_up = congested;
  loop_.touch();
  for (const auto& [id, connection] : applications_) connection->pause_reading(congested);
  processes_->pause_output(congested);
}

void TcpDriver::Core::queue(const ConnectionPtr& connection, const auto& message) {
  // Frames to one connection come in runs, so this keeps the list short.
  if (unflushed_.empty() || unflushed_.back() != connection) unflushed_.push_back(connection);
  constexpr bool has_short = requires(Bytes & to) {
    wire::append_short(message, std::size_t{}, to);
  };
  if constexpr (has_short) {
    if (connection->send_short(message)) return;
  }
  wire::Encoded encoded = encoder_.encode(message);
  const bool is_long = encoded.payload_size() >= Loans::kLongBytes;
  if (is_long && connection->lends()) lent_.on_use();
  connection->send(std::move(encoded));
}

void TcpDriver::Core::let_drain(auto& connections, auto id) {
  const auto found = connections.find(id);
  if (found == connections.end()) return;
  const ConnectionPtr connection = found->second;
  connections.erase(found);
  ++draining_;
  connection->close_after_drain();
}

void TcpDriver::Core::on_drained() {
  --draining_;
  if (stop_ && draining_ == 0) loop_.stop();
}

void TcpDriver::Core::handle(runtime::Dial& effect) {
  if (!dialling_.insert(effect.peer).second) return;
  asio::co_spawn(loop_.io(), dial_peer(effect.peer, std::move(effect.endpoints)), asio::detached);
}

void TcpDriver::Core::handle(runtime::Inquire& effect) {
  asio::co_spawn(loop_.io(), inquire(std::move(effect.endpoints)), asio::detached);
}

/// As a tool would.
asio::awaitable<void> TcpDriver::Core::inquire(std::vector<std::string> addresses) {
  DialOutcome outcome = co_await dial(std::move(addresses), options_.key,
                                      {.role = Role::kClient, .self = {}, .expected = {}});
  if (stop_ || !outcome.reached) co_return;
  if (inquiry_) inquiry_->close();  // The one before, which may have had no answer.
  inquiry_ = connect(descriptor_of(std::move(outcome.reached->socket)), wire::Family::kClientReply,
                     {.on_frame = [this](Header header, Payload payload) -> Status {
                        auto reply = decoder_.client_reply(header, std::move(payload));
                        if (!reply.ok()) return reply.error();
                        const auto* status = std::get_if<runtime::StatusReply>(&reply.value());
                        if (status != nullptr) {
                          step([&](runtime::Daemon& daemon, Instant now) {
                            daemon.on_inquired(now, status->view);
                          });
                        }
                        return Error{ErrorCode::kAborted, "that was all"};
                      },
                      .on_batch_end = {},
                      .on_closed = [](const Error&) {}});
  queue(inquiry_, runtime::ClientRequest{runtime::StatusRequest{false}});
  inquiry_->start();
  end_batch();
}

void TcpDriver::Core::handle(runtime::Hangup& effect) {
  const auto found = links_.find(effect.link);
  if (found == links_.end()) return;
  found->second->close();
  links_.erase(found);
}

void TcpDriver::Core::handle(runtime::Transmit& effect) {
  const auto found = links_.find(effect.link);
  if (found == links_.end()) return;
  queue(found->second, effect.frame);
  if (effect.tell) found->second->mark();
}

void TcpDriver::Core::handle(runtime::ToApp& effect) {
  if (effect.application == inside_.id) {
    inside_.waiting.push_back(std::move(effect.message));
    return;
  }
  const auto found = applications_.find(effect.application);
  if (found == applications_.end()) return;
  const ConnectionPtr connection = found->second;
  const std::size_t before = connection->queued_bytes();
  queue(connection, effect.message);
  if (!std::holds_alternative<runtime::AppNetwork>(effect.message)) return;
  // Messages have limits of their own, and may wait for long; questions have none.
  std::size_t& unread = unread_[effect.application];
  unread = (before == 0 ? 0 : unread) + connection->queued_bytes() - before;
  if (unread <= kClientQueueMax) return;
  connection->fail({ErrorCode::kLimit, kDoesNotRead});
}

void TcpDriver::Core::handle(runtime::DropApp& effect) {
  if (effect.application == inside_.id) inside_.is_open = false;
  let_drain(applications_, effect.application);
}

void TcpDriver::Core::handle(runtime::Reply& effect) {
  const auto found = clients_.find(effect.client);
  if (found == clients_.end()) return;
  queue(found->second, effect.reply);
  arrivals_.on_sent(steady_now(), effect.client);
  if (found->second->queued_bytes() <= kClientQueueMax) return;
  static_assert(kClientQueueMax == std::size_t{64} << 20U);
  found->second->fail({ErrorCode::kLimit, kDoesNotRead});
}

void TcpDriver::Core::handle(runtime::DropClient& effect) {
  turns_.drop(effect.client);
  let_drain(clients_, effect.client);
}

void TcpDriver::Core::handle(runtime::Spawn& effect) {
  SpawnRequest request{.command = std::move(effect.spec.command),
                       .environment = std::move(effect.spec.environment),
                       .directory = std::move(effect.spec.directory),
                       .keeper = options_.keeper,
                       .has_input = effect.has_input};
  request.environment.push_back("PHOENIX_SOCKET=" + options_.socket_path);
  request.environment.push_back("PHOENIX_JOB=" + std::to_string(effect.job.value));
  request.environment.push_back("PHOENIX_PROCESSOR=" + std::to_string(self().value));
  if (effect.spec.fixed && !options_.mpi_folder.empty()) {
    request.environment.push_back(library_path(options_.mpi_folder, request.environment));
    request.environment.push_back("PHOENIX_MPI_FOLDER=" + options_.mpi_folder);
  }
  if (!local_listener_) request.command.clear();
  processes_->start(effect.job, request);
}

void TcpDriver::Core::handle(runtime::SignalProcess& effect) {
  processes_->signal(effect.job, effect.signal, effect.escalate_after);
}

void TcpDriver::Core::handle(runtime::HoldOutput& effect) {
  processes_->pause_output(effect.job, effect.hold);
}

void TcpDriver::Core::handle(runtime::Stop& effect) {
  stop_ = effect;
  inside_.is_open = false;
  end_batch();
  look_timer_.cancel();
  first_word_timer_.cancel();
  if (listener_) listener_->close();
  if (local_listener_) local_listener_->close();
  while (!links_.empty()) let_drain(links_, links_.begin()->first);
  while (!applications_.empty()) let_drain(applications_, applications_.begin()->first);
  while (!clients_.empty()) let_drain(clients_, clients_.begin()->first);
  stop_timer_.expires_after(kStopTimeout);
  stop_timer_.async_wait([this](const std::error_code&) { loop_.stop(); });
  if (draining_ == 0) loop_.stop();
}

}  // namespace phx::tcp
