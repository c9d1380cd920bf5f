#include "apps/phoenix/jobs/job_output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "apps/phoenix/mesh/interrupts.h"

namespace phx::app {
namespace {

constexpr std::size_t kLineMax = std::size_t{16} << 20U;  // Longer ones are cut in two.

/// "14:03:07.123 "
std::string time_of_day() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  ::localtime_r(&now.tv_sec, &local);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof(text), "%H:%M:%S", &local);
  std::snprintf(text + size, sizeof(text) - size, ".%03ld ", now.tv_nsec / 1'000'000);
  return text;
}

/// The first file in the folder that is one of JobOutput's; empty: there is none.
std::string earlier_output(const std::string& folder) {
  std::error_code failure;
  std::string first;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename();
    const std::string stem = entry.path().stem();
    const bool is_output = name.ends_with(".out") || name.ends_with(".err");
    const bool is_processor = stem.size() > 1 && stem.front() == 'p' &&
                              stem.find_first_not_of("0123456789", 1) == std::string::npos;
    if (is_output && is_processor && (first.empty() || name < first)) first = name;
  }
  return first;
}

}  // namespace

Result<JobOutput> JobOutput::make(Options options) {
  if (!options.folder.empty()) {
    std::error_code failure;
    std::filesystem::create_directories(options.folder, failure);
    if (failure) {
      return Error{ErrorCode::kDenied, "--output-dir: cannot make the folder " + options.folder +
                                           ": " + failure.message()};
    }
    if (::access(options.folder.c_str(), W_OK) != 0) {
      return Error{ErrorCode::kDenied, "--output-dir: cannot write in the folder " +
                                           options.folder + ": " + std::strerror(errno)};
    }
    const std::string earlier = earlier_output(options.folder);
    if (!earlier.empty()) {
      std::fprintf(
          stderr,
          "phoenix: --output-dir: %s has files of an earlier job (%s): what comes is added "
          "at their ends\n",
          options.folder.c_str(), earlier.c_str());
    }
  }
  return JobOutput(std::move(options));
}

void JobOutput::write(const runtime::Output& output, const GoesOn& goes_on) {
  const Stream stream{output.processor, output.is_error};
  if (!options_.folder.empty()) {
    write_file(stream, output.bytes.text());
    return;
  }
  std::string& line = begun_[stream];
  for (std::string_view rest = output.bytes.text(); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const bool has_end = end != std::string_view::npos;
    line += rest.substr(0, end);
    rest.remove_prefix(has_end ? end + 1 : rest.size());
    if (!has_end && line.size() < kLineMax) break;
    add_line(stream, line);
    line.clear();
  }
  show(stream, goes_on);
}

void JobOutput::add_line(const Stream& stream, std::string_view line) {
  if (options_.timestamps) lines_ += time_of_day();
  if (options_.tags) lines_ += '[' + to_string(stream.first) + "] ";
  lines_ += line;
  lines_ += '\n';
}

void JobOutput::write_file(const Stream& stream, std::string_view text) {
  auto& file = files_[stream];
  const std::string name = to_string(stream.first) + (stream.second ? ".err" : ".out");
  const std::string path = std::filesystem::path(options_.folder) / name;
  if (!file) file.reset(std::fopen(path.c_str(), "ab"));
  const bool well = file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                    std::fflush(file.get()) == 0;
  if (!well) lose(path);
}

void JobOutput::show(const Stream& stream, const GoesOn& goes_on) {
  const std::string lines = std::exchange(lines_, {});
  std::string_view rest = lines;
  while (!rest.empty() && !is_silent_) {
    const int to = stream.second ? STDERR_FILENO : STDOUT_FILENO;
    const auto size = write_some(to, rest);
    if (!size) {
      is_unread_ = is_unread_ || errno == EPIPE;
      return lose(stream.second ? "standard error" : "standard output");
    }
    rest.remove_prefix(*size);
    is_silent_ = !rest.empty() && !goes_on();
  }
  is_lost_ = is_lost_ || !rest.empty();
}

/// Says once, at once, what is lost; errno says why.
void JobOutput::lose(const std::string& where) {
  const std::string why = std::strerror(errno);
  if (std::exchange(is_lost_, true)) return;
  loss_ = where + ": " + why;
  std::fprintf(stderr, "phoenix: cannot write the job's output to %s%s\n", loss_.c_str(),
               is_unread_ ? "" : "; the job goes on");
}

bool JobOutput::finish() {
  for (const auto& [stream, line] : begun_) {
    if (line.empty()) continue;
    add_line(stream, line);
    show(stream, [] { return Interrupts::count() < 2; });
  }
  begun_.clear();
  return !is_lost_;
}

std::optional<std::size_t> write_some(int fd, std::string_view text,
                                      std::chrono::milliseconds patience) {
  pollfd room{fd, POLLOUT, 0};
  if (::poll(&room, 1, static_cast<int>(patience.count())) <= 0) return 0;
  // So little does not wait where there is room at all.
  const ssize_t size = ::write(fd, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
  if (size < 0 && errno != EINTR && errno != EAGAIN) return std::nullopt;
  return static_cast<std::size_t>(std::max<ssize_t>(size, 0));
}

}  // namespace phx::app
