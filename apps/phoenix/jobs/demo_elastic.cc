#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/jobs/chart.h"
#include "apps/phoenix/jobs/child.h"
#include "apps/phoenix/jobs/demo.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/start.h"
#include "apps/phoenix/texts/table.h"

namespace phx::app {
namespace {

double clock_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string print(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// "elastic: t=1.2 rounds=40" as a map.
std::map<std::string, double> numbers_in(const std::string& line) {
  std::map<std::string, double> numbers;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    numbers[word.substr(0, equals)] = std::strtod(word.c_str() + equals + 1, nullptr);
  }
  return numbers;
}

/// Processors that come or go: an `add` or a `drain` that is due once in the run.
struct Change {
  std::string what;   ///< "4 processors join".
  std::string words;  ///< The command, as a person would type it.
  std::vector<std::string> arguments;
  double due_s = 0;
  std::optional<double> begun_s{};
  std::optional<double> done_s{};
  std::unique_ptr<Child> child{};
  bool has_failed = false;
};

/// The run from the first line of the job to its last.
class Show {
 public:
  Show(const ElasticOptions& options, std::vector<Change> changes)
      : options_(options), changes_(std::move(changes)), is_terminal_(::isatty(1) != 0) {}

  /// Follows the job to its end, and the changes that are under way to theirs. The job's exit
  /// code, or -1 if a person interrupted it.
  int follow(Child& job) {
    while (Interrupts::count() == 0 && (job.exit_code() < 0 || is_changing())) {
      std::vector<pollfd> watched;
      if (job.exit_code() < 0) watched.push_back({job.descriptor(), POLLIN, 0});
      for (const Change& change : changes_) {
        if (change.child) watched.push_back({change.child->descriptor(), POLLIN, 0});
      }
      ::poll(watched.data(), watched.size(), 50);
      follow_changes();
      if (job.exit_code() < 0 && job.take([this](const std::string& line) { on_line(line); })) {
        start_next_change();
      }
    }
    if (is_terminal_) std::printf("\r\033[K");
    return Interrupts::count() != 0 ? -1 : job.exit_code();
  }

  /// The table and the chart. False: something was not as it must be.
  bool report() {
    bool is_well = result_.contains("verified") && result_["lost"] == 0;
    for (const Change& change : changes_) is_well = is_well && change.done_s && !change.has_failed;
    if (!result_.contains("verified")) return false;
    Table table({"what", "", ""});
    const auto count = [](double value) { return print("%.0f", value); };
    table.add({"broadcasts of " + spelled_size(), count(result_["broadcasts"]), ""});
    table.add(
        {"sums over " + std::to_string(options_.vnodes) + " vnodes", count(result_["sums"]), ""});
    table.add({"results verified", count(result_["verified"]), "one per vnode and operation"});
    table.add({"lost or wrong", count(result_["lost"]), ""});
    for (const Change& change : changes_) {
      if (!change.done_s) continue;
      table.add({change.what, print("%.2f s", *change.done_s - *change.begun_s), change.words});
    }
    table.add({"worst pause of a vnode", print("%.0f ms", result_["pause"] * 1e3),
               "longest time without a result"});
    std::printf("\n%s\n", table.text().c_str());
    return draw() && is_well;
  }

 private:
  /// "1M" as "1 MiB".
  [[nodiscard]] std::string spelled_size() const {
    const char unit = options_.size.empty() ? '0' : options_.size.back();
    if (unit >= '0' && unit <= '9') return options_.size + " bytes";
    return options_.size.substr(0, options_.size.size() - 1) + ' ' + unit + "iB";
  }
  [[nodiscard]] bool is_changing() const {
    return std::any_of(changes_.begin(), changes_.end(),
                       [](const Change& change) { return change.child != nullptr; });
  }
  [[nodiscard]] double now_s() const { return clock_s() - begin_s_; }

  void on_line(const std::string& line) {
    const auto numbers = numbers_in(line);
    if (numbers.contains("begin")) {
      begin_s_ = numbers.at("begin");
      has_begun_ = true;
    } else if (line.find("elastic: end ") == 0) {
      result_ = numbers;
    } else if (numbers.contains("rate")) {
      on_sample(numbers);
    } else {
      std::fprintf(stderr, "%s%s\n", is_terminal_ ? "\r\033[K" : "", line.c_str());
    }
  }

  void on_sample(const std::map<std::string, double>& sample) {
    const double t_s = sample.at("t");
    bandwidth_.push_back({t_s, sample.at("rate") / 1e3});
    processors_.push_back({t_s, sample.at("processors")});
    end_s_ = t_s;
    if (!is_terminal_ && t_s < told_s_ + 1) return;
    told_s_ = t_s;
    constexpr int kBar = 24;
    const int done = std::clamp(static_cast<int>(kBar * t_s / options_.seconds), 0, kBar);
    std::printf("%s[%s%s] %4.1f s  %2.0f processors  %5.0f broadcasts  %5.2f GB/s  all verified%s",
                is_terminal_ ? "\r\033[K" : "",
                std::string(static_cast<std::size_t>(done), '=').c_str(),
                std::string(static_cast<std::size_t>(kBar - done), ' ').c_str(), t_s,
                sample.at("processors"), sample.at("rounds"), sample.at("rate") / 1e3,
                is_terminal_ ? "" : "\n");
    std::fflush(stdout);
  }

  void tell(const std::string& what) const {
    std::printf("%s%6.2f s  %s\n", is_terminal_ ? "\r\033[K" : "", now_s(), what.c_str());
    std::fflush(stdout);
  }

  /// One change at a time: the next begins when it is due and the one before it is done.
  void start_next_change() {
    if (!has_begun_) return;
    for (Change& change : changes_) {
      if (change.done_s) continue;
      if (change.child || now_s() < change.due_s) return;
      change.begun_s = now_s();
      tell("$ " + change.words);
      auto child = Child::start(change.arguments);
      if (child.ok()) {
        change.child = std::make_unique<Child>(std::move(child).value());
      } else {
        fail(child.error().what);
        change.has_failed = true;
        change.done_s = now_s();
      }
      return;
    }
  }

  void follow_changes() {
    for (Change& change : changes_) {
      if (!change.child || change.child->take([](const std::string&) {})) continue;
      change.done_s = now_s();
      change.has_failed = change.child->exit_code() != 0;
      tell(change.child->last_line());
      change.child.reset();
    }
  }

  [[nodiscard]] bool draw() const {
    Chart chart;
    chart.title = "Phoenix: broadcasts go on while processors come and go";
    chart.subtitle =
        std::to_string(options_.vnodes) + " vnodes, broadcasts of " + spelled_size() +
        " from changing roots and a sum after each; results verified by every vnode: " +
        print("%.0f, lost: ", result_.at("verified")) + print("%.0f", result_.at("lost"));
    chart.line = {"Broadcast bandwidth, bytes delivered to all processors (GB/s)", bandwidth_};
    chart.steps = {"Processors that hold vnodes", processors_};
    chart.end_s = std::max(end_s_, options_.seconds);
    for (const Change& change : changes_) {
      if (!change.begun_s) continue;
      const bool is_gain = change.arguments.front() == "add";
      chart.marks.push_back({*change.begun_s, change.what, is_gain});
    }
    const std::filesystem::path folder(options_.output.empty() ? "." : options_.output);
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    const Status written = chart.write(folder / "phoenix-elastic");
    if (!written.ok()) {
      fail(written.error().what);
      return false;
    }
    const std::string where =
        std::filesystem::absolute(folder / "phoenix-elastic", failure).lexically_normal();
    std::printf("chart: %s.png\n       %s.svg\n", where.c_str(), where.c_str());
    return true;
  }

  ElasticOptions options_;
  std::vector<Change> changes_;
  bool is_terminal_;
  bool has_begun_ = false;
  double begin_s_ = 0;  ///< Of the job's first line, since 1970.
  double end_s_ = 0;
  double told_s_ = -1;
  std::vector<Chart::Point> bandwidth_;
  std::vector<Chart::Point> processors_;
  std::map<std::string, double> result_;
};

std::vector<Change> changes_of(const ElasticOptions& options, const std::string& mesh,
                               const std::vector<Launched>& members) {
  const std::string count = std::to_string(options.change);
  const char* many = options.change == 1 ? " processor" : " processors";
  const char* one = options.change == 1 ? "s" : "";
  std::vector<std::string> drain{"drain", "--mesh", mesh};
  std::string words = "phoenix drain";
  for (std::size_t i = 0; i < std::min<std::size_t>(options.change, members.size()); ++i) {
    drain.push_back("p" + std::to_string(members[i].id));
    words += " " + drain.back();
  }
  drain.insert(drain.end(), {"--timeout", "30"});
  std::vector<Change> changes;
  changes.push_back({count + many + " join" + one,
                     "phoenix add --local " + count,
                     {"add", "--mesh", mesh, "--local", count},
                     0.3 * options.seconds});
  changes.push_back({count + many + (options.change == 1 ? " is drained" : " are drained"), words,
                     drain, 0.6 * options.seconds});
  return changes;
}

/// Of the job.
std::vector<std::string> job_options(const ElasticOptions& options) {
  return {"--seconds", print("%g", options.seconds), "--size", options.size};
}

int run_show(const ElasticOptions& options, const std::string& mesh,
             const std::vector<Launched>& members) {
  std::vector<std::string> words{"run", "--mesh", mesh, "-n", std::to_string(options.vnodes)};
  words.insert(words.end(), {"--no-tags", "--", demo_path("elastic")});
  const std::vector<std::string> own = job_options(options);
  words.insert(words.end(), own.begin(), own.end());
  auto job = Child::start(words);
  if (!job.ok()) return fail(job.error().what);
  Show show(options, changes_of(options, mesh, members));
  const int code = show.follow(job.value());
  if (code < 0) return fail("interrupted", kInterrupted);
  const bool is_well = show.report();
  if (code == 0 && is_well) return kOk;
  return fail("the demo FAILED: " +
              (code != 0 ? "the job ended with code " + std::to_string(code) : "see above"));
}

}  // namespace

int demo_elastic(const ElasticOptions& options) {
  if (options.change > options.processors) {
    return fail("--change must not be greater than --processors", kUsage);
  }
  const int checked = check_demo_options("elastic", job_options(options));
  if (checked != kOk) return checked;
  const Interrupts interrupts;
  const std::string mesh = "elastic-" + std::to_string(::getpid());
  std::printf("A mesh of %u local daemons runs a job of %llu vnodes; %u join, %u are drained.\n",
              options.processors, static_cast<unsigned long long>(options.vnodes), options.change,
              options.change);
  std::fflush(stdout);
  LaunchOptions quietly;
  quietly.quiet = true;
  quietly.lifeline = lifeline();
  const auto members = start_mesh(mesh, std::vector<Place>(options.processors), quietly);
  if (!members.ok()) return fail(members.error().what);
  const int code = run_show(options, mesh, members.value());
  const Status ended = end_mesh(mesh);
  return ended.ok() ? code : fail(ended.error().what);
}

}  // namespace phx::app
