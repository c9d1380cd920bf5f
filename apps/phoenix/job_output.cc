#include "apps/phoenix/job_output.h"

#include <filesystem>
#include <system_error>

namespace phx::app {
namespace {

constexpr std::size_t kLineMax = std::size_t{64} << 10U;  // Longer ones are cut in two.

}  // namespace

Result<JobOutput> JobOutput::make(Options options) {
  if (!options.folder.empty()) {
    std::error_code failure;
    std::filesystem::create_directories(options.folder, failure);
    if (failure) {
      return Error{ErrorCode::kDenied,
                   "cannot make the folder " + options.folder + ": " + failure.message()};
    }
  }
  return JobOutput(std::move(options));
}

bool JobOutput::write(const runtime::Output& output) {
  const Stream stream{output.processor, output.is_error};
  if (!options_.folder.empty()) return write_file(stream, output.bytes.text());
  std::string& line = begun_[stream];
  bool well = true;
  for (std::string_view rest = output.bytes.text(); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const bool has_end = end != std::string_view::npos;
    line += rest.substr(0, end);
    rest.remove_prefix(has_end ? end + 1 : rest.size());
    if (!has_end && line.size() < kLineMax) break;
    well = write_line(stream, line) && well;
    line.clear();
  }
  std::fflush(output.is_error ? stderr : stdout);
  return well;
}

bool JobOutput::write_line(const Stream& stream, std::string_view line) {
  std::FILE* file = stream.second ? stderr : stdout;
  if (options_.tags) std::fprintf(file, "[%s] ", to_string(stream.first).c_str());
  std::fwrite(line.data(), 1, line.size(), file);
  return std::fputc('\n', file) != EOF && std::ferror(file) == 0;
}

bool JobOutput::write_file(const Stream& stream, std::string_view text) {
  auto& file = files_[stream];
  if (!file) {
    const std::string name = to_string(stream.first) + (stream.second ? ".err" : ".out");
    file.reset(std::fopen((std::filesystem::path(options_.folder) / name).c_str(), "ab"));
    if (!file) return false;
  }
  return std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
         std::fflush(file.get()) == 0;
}

bool JobOutput::finish() {
  bool well = true;
  for (const auto& [stream, line] : begun_) {
    if (!line.empty()) well = write_line(stream, line) && well;
  }
  begun_.clear();
  return well && std::fflush(stdout) == 0;
}

}  // namespace phx::app
