#include "apps/phoenix/bench/bench_job.h"

#include <poll.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/launch.h"

namespace phx::app {
namespace {

constexpr const char* kProgram = "phoenix-bench";
constexpr int kLookMs = 100;

/// Adds the option for it, if it is wanted, and returns the file.
std::string make_until(const MeshDir& dir, bool is_wanted, std::vector<std::string>& arguments) {
  if (!is_wanted) return {};
  const std::string until = dir.path() / (fresh_bench_name() + "-enough");
  arguments.push_back("--until=" + until);
  return until;
}

}  // namespace

Result<BenchJob> BenchJob::start_in(const std::string& mesh, std::uint64_t vnodes,
                                    const std::vector<std::string>& arguments,
                                    const Options& options) {
  const auto dir = MeshDir::open(mesh);
  if (!dir.ok()) return dir.error();
  std::vector<std::string> own = arguments;
  const std::string until = make_until(dir.value(), options.until_told, own);
  std::vector<std::string> words = {"run",      "--mesh", mesh, "-n", std::to_string(vnodes),
                                    "--no-tags"};
  if (!options.balance) words.emplace_back("--no-balance");
  words.insert(words.end(), {"--", program_path(kProgram)});
  words.insert(words.end(), own.begin(), own.end());
  // What the user wants by default of jobs is not for these.
  auto child = Child::start(words, {"PHOENIX_CONFIG=/dev/null"});
  if (!child.ok()) return child.error();
  return BenchJob(std::move(child).value(), std::move(own), until);
}

Result<BenchJob> BenchJob::start_embedded(const std::vector<std::string>& arguments,
                                          const Options& options) {
  const auto dir = MeshDir::make(fresh_bench_name());
  if (!dir.ok()) return dir.error();
  std::vector<std::string> own = arguments;
  const std::string until = make_until(dir.value(), options.until_told, own);
  const Status key = dir.value().make_key();
  auto child = key.ok() ? Child::start_program(program_path(kProgram), own,
                                               {"PHOENIX_KEY_FILE=" + dir.value().key_file()})
                        : Result<Child>(key.error());
  if (!child.ok()) {
    dir.value().remove();
    return child.error();
  }
  BenchJob job(std::move(child).value(), std::move(own), until);
  job.own_ = dir.value();
  return job;
}

BenchJob::BenchJob(BenchJob&& other) noexcept
    : child_(std::move(other.child_)),
      arguments_(std::move(other.arguments_)),
      until_(std::exchange(other.until_, {})),
      own_(std::exchange(other.own_, std::nullopt)),
      lines_(std::move(other.lines_)),
      said_(std::move(other.said_)) {}

BenchJob::~BenchJob() {
  child_.end();
  if (own_) own_->remove();
  std::error_code ignored;
  if (!until_.empty()) std::filesystem::remove(until_, ignored);
}

bool BenchJob::take(const OnFigure& on_figure) {
  return child_.take([&](const std::string& line) {
    std::istringstream words(line);
    std::string first;
    std::string name;
    double value = 0;
    if (words >> first >> name >> value && first == "figure") {
      said_[name].push_back(value);
      if (on_figure) on_figure(name, value);
    } else {
      lines_ += line + "\n";
    }
  });
}

bool BenchJob::has_ended() {
  return !take();
}

Result<Said> BenchJob::wait(const OnFigure& on_figure) {
  while (take(on_figure)) {
    if (bench_is_interrupted()) return bench_interrupted();
    pollfd readable{child_.descriptor(), POLLIN, 0};
    ::poll(&readable, 1, kLookMs);
  }
  if (child_.exit_code() == 0) return said_;
  if (bench_is_interrupted()) return bench_interrupted();
  return failed();
}

Result<Said> BenchJob::finish() {
  if (std::ofstream file(until_); file) return wait();
  const int number = errno;
  return Error{ErrorCode::kUnavailable,
               "cannot make " + until_ + ", which ends " + kProgram + ": " + std::strerror(number)};
}

Error BenchJob::failed() const {
  std::fputs(lines_.c_str(), stderr);
  std::string text = kProgram;
  for (const std::string& argument : arguments_) text += " " + argument;
  return Error{ErrorCode::kUnavailable, text + " failed; see above"};
}

}  // namespace phx::app
