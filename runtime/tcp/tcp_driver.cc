#include "runtime/tcp/tcp_driver.h"

#include <asio/posix/stream_descriptor.hpp>
#include <utility>

#include "runtime/tcp/driver_core.h"

namespace phx::tcp {

Result<std::unique_ptr<TcpDriver>> TcpDriver::start(const DriverOptions& options, LogSink log) {
  auto core = std::make_unique<Core>(options, std::move(log));
  // All that can fail here comes first: from join() on others count on this daemon.
  for (const auto stage : {&Core::bind, &Core::join}) {
    const Status done = ((*core).*stage)();
    if (!done.ok()) return done.error();
  }
  core->open_doors();
  return std::unique_ptr<TcpDriver>(new TcpDriver(std::move(core)));
}

TcpDriver::TcpDriver(std::unique_ptr<Core> core) : core_(std::move(core)) {}
TcpDriver::~TcpDriver() = default;

runtime::Stop TcpDriver::run() {
  return core_->run();
}

void TcpDriver::obey_signals() {
  core_->obey_signals();
}

void TcpDriver::end_with(Descriptor lifeline) {
  using Watched = asio::posix::stream_descriptor;
  auto watched = std::make_shared<Watched>(core_->loop().io(), lifeline.release());
  watched->async_wait(Watched::wait_read, [this, watched](const std::error_code& error) {
    if (!error) core_->take_down();
  });
}

void TcpDriver::drain() {
  core_->loop().post_from_outside([this] { core_->drain(); });
}

void TcpDriver::know(overlay::KnownNetwork network) {
  core_->loop().post_from_outside([this, known = std::move(network)] { core_->know(known); });
}

void TcpDriver::halt() {
  core_->loop().post_from_outside([this] { core_->halt(); });
}

Loop& TcpDriver::loop() {
  return core_->loop();
}

void TcpDriver::on_inside(std::span<runtime::ToDaemon> messages, bool may_join) {
  core_->on_inside(messages, may_join);
}

void TcpDriver::flush() {
  core_->flush();
}

void TcpDriver::on_inside_gone() {
  core_->on_inside_gone();
}

Inside& TcpDriver::inside() {
  return core_->inside();
}

ProcessorId TcpDriver::self() const {
  return core_->self();
}

const std::vector<std::string>& TcpDriver::endpoints() const {
  return core_->endpoints();
}

}  // namespace phx::tcp
