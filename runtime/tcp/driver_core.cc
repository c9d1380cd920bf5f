#include "runtime/tcp/driver_core.h"

#include <unistd.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <csignal>
#include <memory>
#include <utility>

#include "runtime/tcp/admission.h"
#include "runtime/tcp/memory_return.h"
#include "runtime/tcp/random_number.h"

namespace phx::tcp {

using Level = runtime::Note::Level;

namespace {

/// Adds the port that was bound to addresses given without one.
std::vector<std::string> with_port(const std::vector<std::string>& given, std::uint16_t port) {
  std::vector<std::string> complete;
  for (const std::string& text : given) {
    Address address{text, 0};
    const Result<Address> parsed = parse_address(text);
    if (parsed.ok()) address = parsed.value();
    if (address.port == 0) address.port = port;
    complete.push_back(to_string(address));
  }
  return complete;
}

/// Where others reach a daemon that listens there.
std::vector<std::string> endpoints_of(const Address& bound, std::vector<std::string> given) {
  if (given.empty() && is_wildcard(bound)) {
    // At "::" one listens for both families.
    const bool has_v6 = bound.name == "::";
    for (const std::string& name : interface_addresses()) {
      if (is_v6(name) && !has_v6) continue;
      given.push_back(to_string(Address{name, bound.port}));
    }
  }
  if (given.empty()) {
    given.push_back(to_string(is_wildcard(bound) ? Address{"127.0.0.1", bound.port} : bound));
  }
  return with_port(given, bound.port);
}

Level severity(const Error& error) {
  return error.code == ErrorCode::kUnavailable ? Level::kDebug : Level::kWarn;
}

/// What a job has needed is free soon after its process here has ended: when it is over everywhere.
class MemoryLater {
 public:
  explicit MemoryLater(asio::io_context& io) : timer_(io) {}
  void begin() {
    timer_.expires_after(std::max(kJobEnds, memory_.left()));
    timer_.async_wait([this](const std::error_code& error) {
      if (!error) memory_.consider();
    });
  }

 private:
  static constexpr Duration kJobEnds = 500ms;
  asio::steady_timer timer_;
  MemoryReturn memory_;
};

/// What a person looks for in the log of a daemon that has just begun.
void tell_beginning(LogSink& log, const runtime::Daemon& daemon, const DriverOptions& options,
                    bool is_unanswered) {
  const std::size_t members = daemon.view().members.size();
  const std::vector<std::string>& endpoints = daemon.view().members.at(daemon.self()).endpoints;
  std::string detail = to_string(daemon.self());
  for (const std::string& endpoint : endpoints) detail += " at=" + endpoint;
  if (members > 1) {
    log.write(Level::kInfo, "joined", detail + " members=" + std::to_string(members));
  } else {
    if (is_unanswered) detail += ": nobody of the others to join has answered";
    log.write(Level::kInfo, "mesh-begun", detail);
  }
  const auto is_near = [](const std::string& at) {
    const Result<Address> place = parse_address(at);
    return place.ok() && is_loopback(place.value().name);
  };
  if (!endpoints.empty() && std::ranges::all_of(endpoints, is_near) &&
      !std::ranges::all_of(options.join, is_near)) {
    log.write(Level::kWarn, "reached-from-here-only",
              "at=" + endpoints.front() +
                  ": daemons of other machines cannot connect to it; see --listen, --advertise");
  }
}

}  // namespace

TcpDriver::Core::Core(const DriverOptions& options, LogSink log)
    : options_(options),
      log_(std::move(log)),
      incarnation_(random_number() | 1U),
      lent_(loop_.io(), [this] { forget_the_dead(); }),
      turns_(loop_.io().get_executor(),
             {.serve =
                  [this](ClientId client, runtime::ClientRequest request) {
                    step([&](runtime::Daemon& daemon, Instant now) {
                      daemon.on_client_message(now, client, std::move(request));
                    });
                  },
              .pause_reading =
                  [this](ClientId client, bool paused) {
                    const auto found = clients_.find(client);
                    if (found != clients_.end()) found->second->pause_reading(paused);
                  }}),
      look_timer_(loop_.io()),
      first_word_timer_(loop_.io()),
      stop_timer_(loop_.io()) {
  processes_ = std::make_unique<Processes>(
      loop_.io().get_executor(),
      Processes::Handlers{.on_output =
                              [this](JobId job, bool is_error, Payload bytes) {
                                step([&](runtime::Daemon& daemon, Instant now) {
                                  daemon.on_output(now, job, is_error, std::move(bytes));
                                });
                              },
                          .on_input_taken =
                              [this](const runtime::InputTaken& taken) {
                                step([&](runtime::Daemon& daemon, Instant now) {
                                  daemon.on_input_taken(now, taken);
                                });
                              },
                          .on_ended =
                              [this, memory = std::make_shared<MemoryLater>(loop_.io())](
                                  JobId job, const runtime::Exit& exit) {
                                step([&](runtime::Daemon& daemon, Instant now) {
                                  daemon.on_process_ended(now, job, exit);
                                });
                                memory->begin();
                              }});
}

TcpDriver::Core::~Core() {
  for (const auto& [id, connection] : links_) connection->close();
  for (const auto& [id, connection] : applications_) connection->close();
  for (const auto& [id, connection] : clients_) connection->close();
  if (inquiry_) inquiry_->close();
}

Status TcpDriver::Core::bind() {
  if (options_.listen) {
    auto listener = Listener::open(loop_.io().get_executor(), *options_.listen);
    if (!listener.ok()) return listener.error();
    listener_ = std::move(listener).value();
    endpoints_ = endpoints_of(listener_->address(), options_.advertise);
  }
  if (options_.socket_path.empty()) return success();
  auto local = LocalListener::open(
      loop_.io().get_executor(), options_.socket_path,
      {.on_accepted =
           [this](LocalListener::Socket socket) { adopt(descriptor_of(std::move(socket))); },
       .on_rejected = [this](const Error& error) { on_rejected(error, "local"); }});
  if (!local.ok()) return local.error();
  local_listener_ = std::move(local).value();
  return success();
}

Status TcpDriver::Core::join() {
  Newcomer newcomer;
  newcomer.self.incarnation = incarnation_;
  newcomer.self.endpoints = endpoints_;
  newcomer.self.name = options_.name;
  newcomer.self.embedded = options_.config.embedded;
  if (listener_) newcomer.bound = listener_->address();
  newcomer.asked = options_.join;
  Result<runtime::Birth> birth = begin_or_join(newcomer, options_.key);
  if (!birth.ok()) return birth.error();
  const bool is_unanswered = !birth.value().elsewhere.empty();
  daemon_ =
      std::make_unique<runtime::Daemon>(std::move(birth).value(), options_.config, random_number());
  tell_beginning(log_, *daemon_, options_, is_unanswered);
  return success();
}

void TcpDriver::Core::open_doors() {
  step([](runtime::Daemon& daemon, Instant now) { daemon.start(now); });
  if (listener_ && !stop_) {
    listener_->start(
        options_.key, identity(kNobody),
        {.on_proved = [this](asio::ip::tcp::socket socket,
                             const Hello& peer) { on_proved(std::move(socket), peer); },
         .on_rejected = [this](const Error& error,
                               const std::string& from) { on_rejected(error, from); }});
  }
}

runtime::Stop TcpDriver::Core::run() {
  loop_.touch();
  loop_.run();
  return stop_.value_or(runtime::Stop{});
}

void TcpDriver::Core::obey_signals() {
  if (!signals_) {
    signals_.emplace(loop_.io(), SIGTERM, SIGINT);
    struct sigaction hangup {};
    ::sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) signals_->add(SIGHUP);  // else it is under nohup
  }
  const bool has_terminal = ::isatty(STDERR_FILENO) == 1;
  signals_->async_wait([this, has_terminal](const std::error_code& error, int signal) {
    if (error) return;
    if (signal == SIGINT && std::exchange(was_interrupted_, true)) return halt();
    if (signal == SIGHUP && (log_.has_file() || !has_terminal)) {
      log_.open_anew();
      return obey_signals();
    }
    const std::string name = signal == SIGINT ? "INT" : signal == SIGHUP ? "HUP" : "TERM";
    note(Level::kInfo, "drain-begins", "signal=" + name);
    drain();
    obey_signals();
  });
}

void TcpDriver::Core::know(const overlay::KnownNetwork& network) {
  step([&](runtime::Daemon& daemon, Instant now) { daemon.know(now, network); });
}

void TcpDriver::Core::drain() {
  step([](runtime::Daemon& daemon, Instant now) { daemon.drain(now); });
}

void TcpDriver::Core::take_down() {
  step([](runtime::Daemon& daemon, Instant now) { daemon.take_down(now); });
}

void TcpDriver::Core::halt() {
  constexpr std::int32_t kInterrupted = 130;
  if (!stop_) stop_ = runtime::Stop{kInterrupted, "stopped at once"};
  inside_.is_open = false;
  loop_.stop();
}

Handshake::Identity TcpDriver::Core::identity(ProcessorId expected) const {
  return {.role = Role::kDaemon,
          .self = daemon_->self(),
          .expected = expected,
          .incarnation = incarnation_};
}

std::optional<Error> TcpDriver::Core::stranger(const Hello& peer) const {
  if (peer.self == daemon_->self()) {
    return Error{ErrorCode::kDenied, "it calls itself " + to_string(peer.self) + " as we do"};
  }
  const auto& members = daemon_->view().members;
  const auto member = members.find(peer.self);
  // Nobody is turned away for being unknown: the news of his joining may be on their way.
  if (member == members.end() || member->second.incarnation == peer.incarnation) {
    return std::nullopt;
  }
  return Error{ErrorCode::kDenied, "it is another process than the member " + to_string(peer.self)};
}

void TcpDriver::Core::on_proved(asio::ip::tcp::socket socket, const Hello& peer) {
  if (stop_) return;
  std::error_code ignored;
  const std::string from = socket.remote_endpoint(ignored).address().to_string();
  if (peer.role == Role::kClient) {
    const bool has_room = clients_.size() < kClientsMax;
    if (!has_room) on_rejected({ErrorCode::kLimit, "too many tools are connected"}, from);
    return add_client(std::move(socket), has_room);
  }
  if (const auto error = stranger(peer)) return on_rejected(*error, from);
  add_link(std::move(socket), peer.self, false);
}

void TcpDriver::Core::note(Level level, std::string_view event, const std::string& detail) {
  log_.write(level, event, detail);
}

void TcpDriver::Core::on_rejected(const Error& error, const std::string& from) {
  const auto times = rejections_.count(steady_now(), error.code, from);
  if (!times) return;
  note(severity(error), "connection-refused",
       "from=" + from + " times=" + std::to_string(*times) +
           " total=" + std::to_string(rejections_.total()) + " in-handshake=" +
           std::to_string(listener_ ? listener_->unproved() : 0) + " why=\"" + error.what + "\"");
}

asio::awaitable<void> TcpDriver::Core::dial_peer(ProcessorId peer,
                                                 std::vector<std::string> addresses) {
  DialOutcome outcome = co_await dial(std::move(addresses), options_.key, identity(peer));
  dialling_.erase(peer);
  if (stop_) co_return;
  if (outcome.reached) {
    const auto error = stranger(outcome.reached->peer);
    if (!error) {
      add_link(std::move(outcome.reached->socket), peer, true);
      co_return;
    }
    outcome.failure = {true, *error};
  }
  step([&](runtime::Daemon& daemon, Instant now) {
    daemon.on_dial_failed(now, peer, outcome.failure.refused, outcome.failure.error.what);
  });
}

}  // namespace phx::tcp
