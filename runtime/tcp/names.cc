#include "runtime/tcp/names.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/tcp/await.h"
#include "runtime/tcp/blocked_signals.h"
#include "runtime/tcp/deadline.h"
#include "runtime/tcp/descriptor.h"

namespace phx::tcp {
namespace {

/// One name, shared by who asks and who looks: either may be gone before the other.
class Search {
 public:
  Search(Address address, LookUp look_up, Descriptor end)
      : address_(std::move(address)), look_up_(std::move(look_up)), end_(std::move(end)) {}

  void run() {
    Result<Places> places = look_up_(address_);
    const std::scoped_lock lock(mutex_);
    result_ = std::move(places);
    end_.reset();
  }
  [[nodiscard]] Result<Places> result() {
    const std::scoped_lock lock(mutex_);
    return result_;
  }

 private:
  const Address address_;
  const LookUp look_up_;
  std::mutex mutex_;
  Descriptor end_;  ///< Of a pipe. That it is closed says that the result is there.
  Result<Places> result_ = Error{ErrorCode::kNotFound, ""};
};

/// The threads that look. Each ends when nothing waits, and keeps this alive until then.
class Searchers : public std::enable_shared_from_this<Searchers> {
 public:
  [[nodiscard]] Status begin(const std::shared_ptr<Search>& search) {
    const std::scoped_lock lock(mutex_);
    const int failed = threads_ < kLookUpsMost ? start() : 0;
    if (failed != 0 && threads_ == 0) {
      return Error{ErrorCode::kNotFound,
                   std::string("no thread to look a name up: ") + std::strerror(failed)};
    }
    waiting_.push_back(search);
    return success();
  }

 private:
  static void* live(void* self) {
    const std::unique_ptr<std::shared_ptr<Searchers>> all(
        static_cast<std::shared_ptr<Searchers>*>(self));
    (*all)->work();
    return nullptr;
  }
  /// Of the system's errors; 0: none.
  [[nodiscard]] int start() {
    auto self = std::make_unique<std::shared_ptr<Searchers>>(shared_from_this());
    const BlockedSignals blocked;  // they are for threads that the program knows
    pthread_t thread{};
    const int error = ::pthread_create(&thread, nullptr, live, self.get());
    if (error != 0) return error;
    static_cast<void>(self.release());
    ::pthread_detach(thread);
    ++threads_;
    return 0;
  }
  void work() {
    while (const auto search = next()) search->run();
  }
  [[nodiscard]] std::shared_ptr<Search> next() {
    const std::scoped_lock lock(mutex_);
    // Nobody else holds what nobody waits for any more.
    while (!waiting_.empty() && waiting_.front().use_count() == 1) waiting_.pop_front();
    if (waiting_.empty()) {
      --threads_;
      return nullptr;
    }
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }

  std::mutex mutex_;
  std::deque<std::shared_ptr<Search>> waiting_;
  std::size_t threads_ = 0;
};

Searchers& searchers() {
  static const auto all = std::make_shared<Searchers>();
  return *all;
}

Error not_found(const Address& address, const std::string& why) {
  return {ErrorCode::kNotFound, address.name + ": " + why};
}

}  // namespace

Result<Places> ask_system(const Address& address) {
  asio::io_context io;
  std::error_code failed;
  const auto found =
      asio::ip::tcp::resolver(io).resolve(address.name, std::to_string(address.port), failed);
  if (failed) return not_found(address, failed.message());
  Places places;
  for (const auto& entry : found) places.push_back(entry.endpoint());
  return places;
}

asio::awaitable<Result<Places>> find_places(Address address, Duration patience, LookUp look_up) {
  std::error_code error;
  const asio::ip::address numeric = asio::ip::make_address(address.name, error);
  if (!error) co_return Places{asio::ip::tcp::endpoint(numeric, address.port)};
  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) co_return not_found(address, std::strerror(errno));
  Descriptor near(pipe[0]);
  const auto search = std::make_shared<Search>(address, std::move(look_up), Descriptor(pipe[1]));
  asio::posix::stream_descriptor done(co_await asio::this_coro::executor);
  done.assign(near.get(), error);
  if (error) co_return not_found(address, error.message());
  static_cast<void>(near.release());
  const Status begun = searchers().begin(search);
  if (!begun.ok()) co_return begun.error();
  const Deadline deadline(done, patience);
  const auto [stopped] =
      co_await done.async_wait(asio::posix::stream_descriptor::wait_read, kAwait);
  if (stopped) co_return not_found(address, "it could not be looked up in time");
  co_return search->result();
}

}  // namespace phx::tcp
