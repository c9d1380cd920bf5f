#include "runtime/tcp/tcp_driver.h"

#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <utility>

#include "runtime/tcp/driver_core.h"

namespace phx::tcp {

Result<std::unique_ptr<TcpDriver>> TcpDriver::start(const DriverOptions& options, LogSink log) {
  auto core = std::make_unique<Core>(options, std::move(log));
  for (const auto stage : {&Core::bind, &Core::join, &Core::open_doors}) {
    const Status done = ((*core).*stage)();
    if (!done.ok()) return done.error();
  }
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
  auto watched = std::make_shared<Watched>(core_->io(), lifeline.release());
  watched->async_wait(Watched::wait_read, [this, watched](const std::error_code& error) {
    if (!error) core_->take_down();
  });
}

void TcpDriver::drain() {
  asio::post(core_->io(), [this] { core_->drain(); });
}

void TcpDriver::halt() {
  asio::post(core_->io(), [this] { core_->halt(); });
}

void TcpDriver::adopt(Descriptor application, std::shared_ptr<Handover> handover) {
  // The function object must be copyable, a descriptor is not.
  auto shared = std::make_shared<Descriptor>(std::move(application));
  asio::post(core_->io(), [this, shared, handover = std::move(handover)] {
    close_on_exec(shared->get());
    LocalListener::Socket socket(core_->io());
    std::error_code error;
    socket.assign(asio::local::stream_protocol(), shared->get(), error);
    if (error) return;
    [[maybe_unused]] const int taken = shared->release();
    core_->adopt(std::move(socket), handover);
  });
}

ProcessorId TcpDriver::self() const {
  return core_->self();
}

const std::vector<std::string>& TcpDriver::endpoints() const {
  return core_->endpoints();
}

}  // namespace phx::tcp
