#include "apps/phoenix/jobs/job_input.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "apps/phoenix/mesh/session.h"
#include "runtime/tcp/blocked_signals.h"

namespace phx::app {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10U;
constexpr std::size_t kWindow = 4 * kReadBytes;  // Not taken yet, at most.
constexpr int kPumpMs = 100;
constexpr auto kAgain = std::chrono::milliseconds(200);

/// Who reads from a terminal in whose background it is would be stopped.
bool may_read() {
  return ::isatty(STDIN_FILENO) == 0 || ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

class Feeder {
 public:
  Feeder(std::string mesh, const JobInput::Reader& reader, std::atomic<bool>& is_lost)
      : mesh_(std::move(mesh)),
        job_(reader.job),
        first_(reader.processor),
        is_fixed_(reader.is_fixed),
        is_lost_(is_lost) {}

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested() && !is_over_) {
      if (has_left_) {
        look_for_rest();
      } else if (session_) {
        pump();
      } else {
        find();
        if (!session_ && !has_left_ && !is_over_) std::this_thread::sleep_for(kAgain);
      }
    }
    // Nobody knows what would have come; of a terminal a person does.
    if (has_left_ && !is_lost_ && ::isatty(STDIN_FILENO) == 0 && !is_at_end()) tell_of_loss();
  }

 private:
  /// Connects to the daemon of the process, and sends it again what it has not taken.
  void find() {
    auto any = connect(mesh_);
    if (!any.ok()) return;
    const auto status = ask_status(any.value(), /*ask_all=*/false);
    if (!status.ok()) return;
    const auto& members = status.value().view.members;
    const auto found = members.find(first_);
    has_left_ = found == members.end() || (is_closed_ && found->second.leaving);
    is_over_ = is_closed_ && !has_left_;  // It has ended by itself, or wants no more.
    if (is_closed_ || has_left_) return;
    auto session = connect_to(mesh_, found->second.endpoints);
    if (!session.ok()) return;
    session_ = std::move(session).value();
    // In pieces as they were read: a daemon takes a megabyte at most.
    sent_ = taken_;
    while (session_ && sent_ < taken_ + kept_.size()) send_next();
    if (has_end_ && kept_.empty()) send_next();
  }

  /// The process is gone with its processor. Whether anything is left that it would have read.
  void look_for_rest() {
    if (kept_.empty()) fetch_within(kPumpMs);
    if (kept_.empty() && !has_end_) return;
    is_over_ = true;
    if (!kept_.empty()) tell_of_loss();
  }

  /// Nothing is left, and nothing will come.
  bool is_at_end() {
    fetch_within(0);
    return has_end_ && kept_.empty();
  }

  void tell_of_loss() {
    is_lost_ = true;
    std::fprintf(stderr,
                 "phoenix: %s has gone, and with it the process that read standard input; the rest "
                 "of that is not passed on\n",
                 to_string(first_).c_str());
  }

  /// The process reads no more: because it has ended, or wants no more; or because its processor
  /// leaves.
  void on_closed() {
    session_.reset();
    is_closed_ = true;
    // Ranks do not move: that of a leaver has ended by itself.
    is_over_ = is_fixed_ || (has_end_ && kept_.empty());
  }

  void send_next() {
    const std::size_t begun = static_cast<std::size_t>(sent_ - taken_);
    const std::string_view piece = std::string_view(kept_).substr(begun, kReadBytes);
    const bool is_last = begun + piece.size() == kept_.size();
    const runtime::InputRequest request{job_, sent_, Payload::copy_of(piece), has_end_ && is_last};
    sent_ += piece.size();
    if (!session_->client.send(request).ok()) session_.reset();
  }

  /// What can be done within a moment.
  void pump() {
    const bool wants_more = !has_end_ && kept_.size() < kWindow && may_read();
    std::array<pollfd, 2> ready{pollfd{session_->client.descriptor(), POLLIN, 0},
                                pollfd{wants_more ? STDIN_FILENO : -1, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), kPumpMs) < 0) return;
    while (ready[0].revents != 0 && session_ && listen()) {
    }
    if (session_ && ready[1].revents != 0 && fetch()) send_next();
  }

  /// If something comes within that time, and can.
  void fetch_within(int milliseconds) {
    pollfd ready{!has_end_ && may_read() ? STDIN_FILENO : -1, POLLIN, 0};
    if (!has_end_ && ::poll(&ready, 1, milliseconds) > 0) fetch();
  }

  /// False: nothing has come.
  bool fetch() {
    std::array<char, kReadBytes> buffer{};
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    // What cannot be read has ended, as it has for a program that reads it itself.
    has_end_ = size <= 0;
    if (size > 0) kept_.append(buffer.data(), static_cast<std::size_t>(size));
    return true;
  }

  /// True: there may be more, which no poll() shows.
  bool listen() {
    auto reply = session_->client.receive(Duration::zero());
    if (!reply.ok()) {
      if (reply.error().code != ErrorCode::kTimeout) session_.reset();
      return false;
    }
    if (const auto* m = std::get_if<runtime::InputTaken>(&reply.value())) {
      const std::uint64_t reached = std::clamp(m->bytes, taken_, sent_);
      kept_.erase(0, static_cast<std::size_t>(reached - taken_));
      taken_ = reached;
      if (m->is_closed) on_closed();
    } else if (std::holds_alternative<runtime::Done>(reply.value())) {
      // It has not begun yet.
      session_.reset();
      std::this_thread::sleep_for(kAgain);
    }
    return true;
  }

  std::string mesh_;
  JobId job_;
  ProcessorId first_;
  bool is_fixed_;
  std::optional<Session> session_;
  std::string kept_;  ///< Read, and not taken by the process.
  std::uint64_t taken_ = 0;
  std::uint64_t sent_ = 0;
  bool has_end_ = false;    ///< Nothing follows what is kept.
  bool is_closed_ = false;  ///< The process reads no more.
  bool has_left_ = false;   ///< It has gone with its processor.
  bool is_over_ = false;
  std::atomic<bool>& is_lost_;
};

}  // namespace

JobInput::JobInput(const std::string& mesh, const Reader& reader) {
  // Signals are for the thread that waits for them.
  const tcp::BlockedSignals blocked;
  thread_ = std::jthread([this, mesh, reader](const std::stop_token& stop) {
    Feeder(mesh, reader, is_lost_).run(stop);
  });
}

bool JobInput::end() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return !is_lost_;
}

}  // namespace phx::app
