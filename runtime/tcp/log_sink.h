#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "overlay/base/result.h"
#include "runtime/messages/effect.h"

namespace spdlog {
class logger;
}

namespace phx::tcp {

struct LogOptions {
  std::string level = "info";  ///< trace, debug, info, warn, error or off.
  std::string file;            ///< Appended to; empty: standard error, if that is open.
};

/// Where notes become lines: "<time> <level> <event> key=value ...". A line that cannot be written
/// (disk full), or not without waiting (a terminal that is held, a pipe that is not read), is
/// dropped. Not thread-safe.
class LogSink {
 public:
  /// kBadInput: unknown level; kDenied: the file cannot be opened.
  [[nodiscard]] static Result<LogSink> open(const LogOptions& options);
  /// Writes nothing.
  LogSink();

  [[nodiscard]] bool has_file() const { return !options_.file.empty(); }
  /// Opens the file again, which somebody may have renamed. False: there is none, or it cannot be
  /// opened; then the old one is written on.
  bool open_anew();

  void note(const runtime::Note& note) { write(note.level, note.event, note.detail); }
  void write(runtime::Note::Level level, std::string_view event, std::string_view detail);

 private:
  LogOptions options_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace phx::tcp
