#include "apps/phoenix/job_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace phx::app {
namespace {

constexpr std::size_t kLineMax = std::size_t{64} << 10U;  // Longer ones are cut in two.

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
  }
  return JobOutput(std::move(options));
}

void JobOutput::write(const runtime::Output& output) {
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
    write_line(stream, line);
    line.clear();
  }
  flush(stream);
}

void JobOutput::write_line(const Stream& stream, std::string_view line) {
  std::FILE* file = stream.second ? stderr : stdout;
  if (options_.tags) std::fprintf(file, "[%s] ", to_string(stream.first).c_str());
  std::fwrite(line.data(), 1, line.size(), file);
  std::fputc('\n', file);
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

void JobOutput::flush(const Stream& stream) {
  std::FILE* file = stream.second ? stderr : stdout;
  if (std::fflush(file) != 0 || std::ferror(file) != 0)
    lose(stream.second ? "standard error" : "standard output");
}

/// Says once, at once, what is lost; errno says why.
void JobOutput::lose(const std::string& where) {
  const std::string why = std::strerror(errno);
  if (std::exchange(is_lost_, true)) return;
  std::fprintf(stderr, "phoenix: cannot write the job's output to %s: %s; the job goes on\n",
               where.c_str(), why.c_str());
}

bool JobOutput::finish() {
  for (const auto& [stream, line] : begun_) {
    if (line.empty()) continue;
    write_line(stream, line);
    flush(stream);
  }
  begun_.clear();
  return !is_lost_;
}

}  // namespace phx::app
