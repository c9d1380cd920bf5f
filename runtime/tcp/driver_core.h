#pragma once

#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/daemon.h"
#include "runtime/tcp/arrivals.h"
#include "runtime/tcp/client_turns.h"
#include "runtime/tcp/connection.h"
#include "runtime/tcp/first_words.h"
#include "runtime/tcp/greeting.h"
#include "runtime/tcp/inside.h"
#include "runtime/tcp/lent_memory.h"
#include "runtime/tcp/listener.h"
#include "runtime/tcp/local_listener.h"
#include "runtime/tcp/processes.h"
#include "runtime/tcp/rejections.h"
#include "runtime/tcp/steady_now.h"
#include "runtime/tcp/tcp_driver.h"

namespace phx::tcp {

/// The driver proper. Thread rule: as Loop.
class TcpDriver::Core {
 public:
  static constexpr std::size_t kClientsMax = 256;  ///< Tools at once; one more is turned away.
  static constexpr std::size_t kClientQueueMax = std::size_t{64} << 20U;  ///< See README, "Limits".

  Core(const DriverOptions& options, LogSink log);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  [[nodiscard]] Status bind();  ///< The port, and the socket of applications.
  [[nodiscard]] Status join();
  void open_doors();
  [[nodiscard]] runtime::Stop run();
  void obey_signals();
  void drain();
  void know(const overlay::KnownNetwork& network);
  void take_down();
  void halt();
  void adopt(Descriptor application);
  void on_inside(std::span<runtime::ToDaemon> messages, bool may_join);
  void on_inside_gone();
  void flush();  ///< What was left for more of its kind.
  [[nodiscard]] Inside& inside() { return inside_; }
  [[nodiscard]] Loop& loop() { return loop_; }
  [[nodiscard]] ProcessorId self() const { return daemon_->self(); }
  [[nodiscard]] const std::vector<std::string>& endpoints() const { return endpoints_; }

 private:
  using ConnectionPtr = std::shared_ptr<Connection>;

  /// Feeds one input to the daemon and executes what follows.
  template <class Input>
  void step(Input input) {
    if (stop_) return;
    input(*daemon_, steady_now());
    execute();
  }
  void execute();
  void end_batch();
  void look_at_tools();
  void await_arrivals();
  void rearm();
  void regulate();
  // One per effect.
  void handle(runtime::Dial& effect);
  void handle(runtime::Inquire& effect);
  void handle(runtime::Hangup& effect);
  void handle(runtime::Transmit& effect);
  void handle(runtime::ToApp& effect);
  void handle(runtime::DropApp& effect);
  void handle(runtime::Reply& effect);
  void handle(runtime::DropClient& effect);
  void handle(runtime::Spawn& effect);
  void handle(runtime::SignalProcess& effect);
  void handle(runtime::HoldOutput& effect);
  void handle(runtime::FeedProcess& effect) { processes_->feed(effect); }
  void handle(runtime::Note& effect) { log_.note(effect); }
  void handle(runtime::Stop& effect);

  void on_proved(asio::ip::tcp::socket socket, const Hello& peer);
  void on_rejected(const Error& error, const std::string& from);
  void add_link(asio::ip::tcp::socket socket, ProcessorId peer, bool dialled);
  void add_client(asio::ip::tcp::socket socket, bool has_room);
  [[nodiscard]] asio::awaitable<void> dial_peer(ProcessorId peer,
                                                std::vector<std::string> addresses);
  [[nodiscard]] asio::awaitable<void> inquire(std::vector<std::string> addresses);
  [[nodiscard]] ConnectionPtr connect(Descriptor socket, wire::Family family,
                                      Connection::Handlers handlers, PayloadWays ways = {});
  void on_drained();  ///< One of the connections that are in no map any more has ended.
  void let_drain(auto& connections, auto id);
  void queue(const ConnectionPtr& connection, const auto& message);
  [[nodiscard]] std::optional<Error> stranger(const Hello& peer) const;
  [[nodiscard]] Handshake::Identity identity(ProcessorId expected) const;
  void note(runtime::Note::Level level, std::string_view event, const std::string& detail);
  [[nodiscard]] Connection::Handlers application_handlers(ApplicationId id);
  void await_first_words();
  void forget_the_dead();

  Loop loop_;  ///< First: what is below uses it until its own end.
  DriverOptions options_;
  LogSink log_;
  std::vector<std::string> endpoints_;
  std::uint64_t incarnation_;  ///< Of this process.
  std::unique_ptr<runtime::Daemon> daemon_;
  ReadBuffer read_buffer_;
  LentMemory lent_;  ///< Outlives the connections.
  Inside inside_;
  wire::Encoder encoder_;
  wire::Decoder decoder_;
  Rejections rejections_;

  std::unique_ptr<Listener> listener_;
  std::unique_ptr<LocalListener> local_listener_;
  std::map<LinkId, ConnectionPtr> links_;
  std::map<ApplicationId, ConnectionPtr> applications_;
  std::map<ApplicationId, std::size_t> unread_;  ///< Bytes of answers since all was read.
  FirstWords first_words_;
  std::map<ClientId, ConnectionPtr> clients_;
  ClientTurns turns_;
  ConnectionPtr inquiry_;        ///< The last one.
  Arrivals arrivals_;            ///< Of replies that the daemon has not heard to be taken.
  std::set<ProcessorId> dialling_;
  std::uint64_t last_link_ = 0;  ///< Number of the last connection of each kind.
  std::uint32_t last_application_ = 0;
  std::uint32_t last_client_ = 0;
  std::vector<ConnectionPtr> unflushed_;  ///< Something was queued in this batch.
  bool in_batch_ = false;                 ///< More frames of one read follow.

  asio::steady_timer look_timer_;
  std::optional<Instant> look_due_;  ///< When it ends; none: it does not run.
  asio::steady_timer first_word_timer_;
  std::optional<Instant> armed_;  ///< When the loop's deadline comes.
  asio::steady_timer stop_timer_;
  std::size_t draining_ = 0;  ///< Connections that are in no map and not closed yet.
  std::optional<asio::signal_set> signals_;
  bool was_interrupted_ = false;  ///< SIGINT came once.
  std::optional<runtime::Stop> stop_;
  std::unique_ptr<Processes> processes_;
};

}  // namespace phx::tcp
