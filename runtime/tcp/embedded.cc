#include "runtime/tcp/embedded.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "runtime/tcp/blocked_signals.h"
#include "runtime/tcp/handshake.h"

namespace phx::tcp {

struct EmbeddedDaemon::Running {
  std::promise<void> over;
  std::thread thread;
};

Result<std::unique_ptr<EmbeddedDaemon>> EmbeddedDaemon::start(const DriverOptions& options,
                                                              const LogOptions& log) {
  Result<LogSink> sink = LogSink::open(log);
  if (!sink.ok()) return sink.error();
  auto driver = TcpDriver::start(options, std::move(sink).value());
  if (!driver.ok()) return driver.error();
  auto running = std::make_unique<Running>();
  const BlockedSignals blocked;  // they are the application's: its own threads must get them
  running->thread = std::thread([driver = driver.value().get(), running = running.get()] {
    static_cast<void>(driver->run());
    running->over.set_value();
  });
  return std::unique_ptr<EmbeddedDaemon>(
      new EmbeddedDaemon(std::move(driver).value(), std::move(running)));
}

DriverOptions EmbeddedDaemon::alone() {
  DriverOptions options;
  options.key = fresh_nonce();
  options.listen.reset();
  options.config.embedded = true;
  return options;
}

EmbeddedDaemon::EmbeddedDaemon(std::unique_ptr<TcpDriver> driver, std::unique_ptr<Running> running)
    : driver_(std::move(driver)), running_(std::move(running)) {}

EmbeddedDaemon::~EmbeddedDaemon() {
  leave(2s);
}

Result<EmbeddedDaemon::Attachment> EmbeddedDaemon::attach() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{ErrorCode::kLimit,
                 std::string("no connection to the daemon inside: ") + std::strerror(errno)};
  }
  auto handover = std::make_shared<Handover>();
  driver_->adopt(Descriptor(ends[0]), handover);
  return Attachment{Descriptor(ends[1]), std::move(handover)};
}

void EmbeddedDaemon::leave(Duration patience) {
  if (!running_) return;
  driver_->drain();
  auto over = running_->over.get_future();
  if (over.wait_for(patience) != std::future_status::ready) driver_->halt();
  running_->thread.join();
  running_.reset();
}

}  // namespace phx::tcp
