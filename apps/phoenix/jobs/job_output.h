#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "overlay/base/ids.h"
#include "overlay/base/result.h"
#include "runtime/messages/messages.h"

namespace phx::app {

/// Where the output of a job's processes goes: whole lines to the terminal with the processor in
/// front, or to one file per processor and stream.
class JobOutput {
 public:
  struct Options {
    bool tags = true;
    bool timestamps = false;  ///< The time of day here in front of each line.
    std::string folder;       ///< Not empty: files "p3.out" and "p3.err" in there instead.
  };
  /// Makes the folder. Fails if it cannot be written to.
  [[nodiscard]] static Result<JobOutput> make(Options options);

  /// Asked again and again while somebody, a pager for instance, does not read. False: nothing is
  /// to be shown any more.
  using GoesOn = std::function<bool()>;

  /// What cannot be written (disk full, pipe closed) is lost, which is said once on stderr.
  void write(const runtime::Output& output, const GoesOn& goes_on);
  /// Writes lines that have no end yet. False: something was lost.
  [[nodiscard]] bool finish();
  /// Whoever read what the tool prints is gone, as `| head` goes.
  [[nodiscard]] bool is_unread() const { return is_unread_; }
  /// Where some of it was lost, and why; empty: nothing was.
  [[nodiscard]] const std::string& loss() const { return loss_; }

 private:
  using Stream = std::pair<ProcessorId, bool>;
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  explicit JobOutput(Options options) : options_(std::move(options)) {}
  void add_line(const Stream& stream, std::string_view line);
  void write_file(const Stream& stream, std::string_view text);
  void show(const Stream& stream, const GoesOn& goes_on);
  void lose(const std::string& where);

  Options options_;
  std::map<Stream, std::string> begun_;  ///< Lines without an end.
  std::map<Stream, std::unique_ptr<std::FILE, Closer>> files_;
  std::string lines_;       ///< To be shown now.
  bool is_lost_ = false;    ///< Some of it.
  std::string loss_;        ///< Where, and why, if that was an error.
  bool is_silent_ = false;  ///< Nothing is shown any more.
  bool is_unread_ = false;
};

/// How much of `text` was written; 0: whoever reads is slow, or a signal has come. Waits no longer
/// than that for room, so that a caller can ask whether to go on. Nothing: an error, which errno
/// tells.
[[nodiscard]] std::optional<std::size_t> write_some(
    int fd, std::string_view text,
    std::chrono::milliseconds patience = std::chrono::milliseconds(100));

}  // namespace phx::app
