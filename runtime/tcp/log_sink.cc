#include "runtime/tcp/log_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/tcp/descriptor.h"

namespace phx::tcp {
namespace {

/// Every line with one write() and without exceptions: a full disk must not stop a computation, nor
/// a pipe that nobody reads, or a terminal that is held (Ctrl-S). So what is no file gets a line
/// only if it takes one now, and no more of it than what a pipe then takes at once.
class DescriptorSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit DescriptorSink(Descriptor file) : file_(std::move(file)) {
    struct stat found {};
    is_file_ = ::fstat(file_.get(), &found) == 0 && S_ISREG(found.st_mode);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (!is_file_ && !is_ready()) return;
    if (!is_file_ && line.size() > PIPE_BUF) {
      line.resize(PIPE_BUF);
      line[PIPE_BUF - 1] = '\n';
    }
    [[maybe_unused]] const ssize_t written = ::write(file_.get(), line.data(), line.size());
  }
  void flush_() override {}

 private:
  /// And somebody reads it: SIGPIPE is not for a program that has a daemon inside.
  [[nodiscard]] bool is_ready() const {
    pollfd wanted{file_.get(), POLLOUT, 0};
    return ::poll(&wanted, 1, 0) > 0 && wanted.revents == POLLOUT;
  }

  Descriptor file_;
  bool is_file_ = false;
};

/// That writes do not block holds for all who have the same open. So it is opened once more; where
/// that cannot be (a socket, a terminal of another user's), or would have another place to write at
/// (a file), it is shared.
Descriptor open_errors() {
  struct stat found {};
  const bool is_file = ::fstat(STDERR_FILENO, &found) == 0 && S_ISREG(found.st_mode);
  const Descriptor own(
      is_file ? -1 : ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const int source = own.is_open() ? own.get() : STDERR_FILENO;
  return Descriptor(::fcntl(source, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// A pipe without a reader cannot be opened so.
Descriptor open_file(const std::string& path) {
  constexpr int kHow = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  return Descriptor(::open(path.c_str(), kHow, 0600));
}

constexpr std::array<std::pair<std::string_view, spdlog::level::level_enum>, 6> kLevels{
    {{"trace", spdlog::level::trace},
     {"debug", spdlog::level::debug},
     {"info", spdlog::level::info},
     {"warn", spdlog::level::warn},
     {"error", spdlog::level::err},
     {"off", spdlog::level::off}}};

spdlog::level::level_enum level_of(runtime::Note::Level level) {
  switch (level) {
    case runtime::Note::Level::kDebug:
      return spdlog::level::debug;
    case runtime::Note::Level::kInfo:
      return spdlog::level::info;
    case runtime::Note::Level::kWarn:
      return spdlog::level::warn;
    case runtime::Note::Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

LogSink::LogSink() = default;

Result<LogSink> LogSink::open(const LogOptions& options) {
  const auto* const level = std::find_if(kLevels.begin(), kLevels.end(), [&](const auto& known) {
    return known.first == options.level;
  });
  if (level == kLevels.end()) {
    return Error{ErrorCode::kBadInput, "log level \"" + options.level +
                                           "\": choose trace, debug, info, warn, error or off"};
  }
  LogSink sink;
  sink.options_ = options;
  if (level->second == spdlog::level::off) return sink;
  Descriptor file = options.file.empty() ? open_errors() : open_file(options.file);
  if (!file.is_open() && options.file.empty() && errno == EBADF) return sink;  // It is closed.
  if (!file.is_open()) {
    return Error{ErrorCode::kDenied,
                 "log file " + options.file + " cannot be opened: " + std::strerror(errno)};
  }
  sink.logger_ = std::make_shared<spdlog::logger>(
      "phoenix", std::make_shared<DescriptorSink>(std::move(file)));
  sink.logger_->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  sink.logger_->set_level(level->second);
  return sink;
}

bool LogSink::open_anew() {
  if (!has_file()) return false;
  auto fresh = open(options_);
  if (!fresh.ok()) {
    write(runtime::Note::Level::kWarn, "log-not-opened", fresh.error().what);
    return false;
  }
  *this = std::move(fresh).value();
  return true;
}

void LogSink::write(runtime::Note::Level level, std::string_view event, std::string_view detail) {
  if (!logger_) return;
  // What others say is one line, too, and writes nothing else to a terminal.
  std::string line(detail);
  std::ranges::replace_if(
      line, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, '?');
  logger_->log(level_of(level), "{}{}{}", event, line.empty() ? "" : " ", line);
}

}  // namespace phx::tcp
