#include "apps/experiments/results.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/texts/quoting.h"
#include "apps/phoenix/texts/table.h"

namespace phx::app {
namespace fs = std::filesystem;
namespace {

/// 0, or what errno says.
int write_text(std::FILE* file, const std::string& text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int failure = is_written ? 0 : errno;
  if (std::fclose(file) != 0 && failure == 0) return errno;
  return failure;
}

/// Under a name of this process first: whoever reads the file, or writes it at the same time, has
/// a whole one.
Status write_whole(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".unfinished-" + std::to_string(::getpid());
  static_cast<void>(std::remove(unfinished.c_str()));  // Of one that was interrupted.
  int failure = 0;
  std::FILE* const file = std::fopen(unfinished.c_str(), "wx");
  if (file == nullptr) {
    failure = errno;
  } else {
    failure = write_text(file, text);
    if (failure == 0 && std::rename(unfinished.c_str(), path.c_str()) != 0) failure = errno;
    if (failure != 0) static_cast<void>(std::remove(unfinished.c_str()));
  }
  if (failure == 0) return success();
  return Error{ErrorCode::kDenied, "cannot write " + path + ": " + std::strerror(failure)};
}

Status make_folder(const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!failed) return success();
  return Error{ErrorCode::kDenied, "cannot make " + folder + ": " + failed.message()};
}

}  // namespace

std::string command_line(const ExperimentOptions& options) {
  std::string line = "phoenix experiment " + options.name;
  if (!options.topology.empty()) line += " --topology " + shell_word(options.topology);
  if (options.reduce) line += " --reduce";
  if (options.adaptive) line += " --adaptive";
  return in_one_line(line + " --seed " + std::to_string(options.seed));
}

std::string name_of_results(const std::string& stem, const ExperimentOptions& options) {
  std::string name = stem;
  if (!options.topology.empty()) {
    name += "-" + fs::path(options.topology).stem().string() + "-" + options.topology_mark;
  }
  if (options.reduce) name += "-reduce";
  if (options.adaptive) name += "-adaptive";
  if (options.seed != ExperimentOptions{}.seed) name += "-seed" + std::to_string(options.seed);
  return name;
}

Status try_folder(const std::string& folder) {
  std::error_code failed;
  fs::path nearest = fs::absolute(folder, failed);
  while (nearest.has_relative_path() &&
         fs::symlink_status(nearest, failed).type() == fs::file_type::not_found) {
    nearest = nearest.parent_path();
  }
  const std::string trial = (nearest / ("phoenix-" + std::to_string(::getpid()))).string();
  const Status written = write_whole(trial, "");
  if (written.ok()) {
    static_cast<void>(std::remove(trial.c_str()));
    return success();
  }
  const std::string& what = written.error().what;
  return Error{ErrorCode::kDenied, "cannot write to " + folder + what.substr(what.rfind(": "))};
}

int show(const ExperimentOptions& options, const Results& results) {
  std::printf("%s", results.text.c_str());
  if (const Status status = make_folder(options.out); !status.ok()) {
    return fail(status.error().what, kUsage);
  }
  const std::string origin = command_line(options);
  std::vector<std::pair<std::string, std::string>> files = {
      {results.name + ".csv", results.csv}, {results.name + ".txt", origin + "\n" + results.text}};
  for (const auto& [name, plot] : results.plots)
    files.emplace_back(name + ".svg", plot.svg(origin));
  int code = kOk;
  std::string written;
  for (const auto& [name, text] : files) {
    if (const Status status = write_whole(options.out + "/" + name, text); !status.ok()) {
      code = fail(status.error().what, kUsage);
    } else {
      written += (written.empty() ? "Written: " : ", ") + name;
    }
  }
  if (!written.empty()) std::printf("%s in %s\n", written.c_str(), options.out.c_str());
  return code;
}

}  // namespace phx::app
