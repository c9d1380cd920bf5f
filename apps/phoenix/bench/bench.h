#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/options/parser.h"
#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/launch.h"
#include "overlay/base/result.h"

namespace phx::app {

/// One line of the table of `phoenix bench`. Times are seconds, sizes bytes; unit says which.
struct Figure {
  enum class Unit { kSeconds, kBytesPerSecond, kPerSecond, kBytes, kPercent, kCount };
  std::string what;
  double value = 0;
  Unit unit = Unit::kSeconds;
  std::optional<double> compared = {};  ///< What plain TCP took, in the same unit and run.
  std::optional<double> at_most = {};   ///< Wanted of the ratio, or of the value if none.
  std::optional<double> at_least = {};

  [[nodiscard]] std::optional<double> ratio() const;
  /// Nothing if nothing is wanted.
  [[nodiscard]] std::optional<bool> is_met() const;
};

/// A group of figures that are measured together.
struct BenchCase {
  const char* name;
  const char* what;
  std::function<Result<std::vector<Figure>>()> measure;
};
[[nodiscard]] const std::vector<BenchCase>& bench_cases();

/// What the application said, by name, as often as it said it.
using Said = std::map<std::string, std::vector<double>>;
/// Hears of each figure at once.
using OnFigure = std::function<void(const std::string& name, double value)>;

/// Until the network of a new mesh is known.
inline constexpr std::chrono::seconds kBenchLearnTime{2};

/// A mesh of daemons on this machine for one measurement; ends with it.
class BenchMesh {
 public:
  [[nodiscard]] static Result<BenchMesh> start(std::uint32_t daemons,
                                               std::vector<std::string> daemon_options = {});
  ~BenchMesh();
  BenchMesh(BenchMesh&& other) noexcept;
  BenchMesh& operator=(BenchMesh&&) = delete;
  BenchMesh(const BenchMesh&) = delete;
  BenchMesh& operator=(const BenchMesh&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Runs phoenix-bench with these arguments as a job, and returns what it said.
  [[nodiscard]] Result<Said> run(std::uint64_t vnodes, const std::vector<std::string>& arguments,
                                 bool balance = true) const;
  /// A file for messages to its jobs; goes with the mesh.
  [[nodiscard]] std::string file(const std::string& name) const;
  /// Starts one more daemon, and returns the time at which that began.
  [[nodiscard]] Result<double> add_one() const;
  /// Binds the daemons, and so what they start, to the CPUs that this process may use, in turn:
  /// each stands for a processor. A line on stderr if that fails. Without this the system often
  /// runs two processes that talk on one CPU, and plain TCP is a change of context there.
  void bind_to_cpus() const;
  [[nodiscard]] std::vector<pid_t> daemons() const;
  [[nodiscard]] double start_seconds() const { return start_seconds_; }
  /// Of all daemons since their start: seconds of CPU.
  [[nodiscard]] double cpu_seconds() const;
  /// The largest resident set of a daemon, in bytes.
  [[nodiscard]] double resident_bytes() const;

 private:
  explicit BenchMesh(std::string name) : name_(std::move(name)) {}
  std::string name_;  ///< Empty: moved from.
  double start_seconds_ = 0;
};

/// Runs phoenix-bench with these arguments as a job in a mesh, and returns what it said.
/// kAborted: interrupted.
[[nodiscard]] Result<Said> run_bench_in(const std::string& mesh, std::uint64_t vnodes,
                                        const std::vector<std::string>& arguments, bool balance,
                                        const OnFigure& on_figure = {});

/// Ctrl-C or the like has come since the program began [interrupts.h].
[[nodiscard]] bool bench_is_interrupted();
[[nodiscard]] Error bench_interrupted();
/// Sleeps so long. kAborted: interrupted.
[[nodiscard]] Status bench_pause(std::chrono::duration<double> time);
/// Says what is wrong, and returns the exit code: kInterrupted for kAborted.
int fail_bench(const Error& error);
/// Of a mesh, or of a file; none like it in this process.
[[nodiscard]] std::string fresh_bench_name();

/// `phoenix bench bcast`, `reduce` and `allreduce`, on a mesh that runs or one of this machine.
void add_bench_sweeps(const options::Parser& bench, Action& chosen);
/// `phoenix bench drain`, on private meshes.
void add_bench_drain(const options::Parser& bench, Action& chosen);
/// Bytes per second of what every second processor had of so many bytes.
[[nodiscard]] double drain_rate(std::uint64_t bytes, std::uint32_t processors, double seconds);
/// `phoenix bench round`, on a private mesh.
void add_bench_round(const options::Parser& bench, Action& chosen);
/// `phoenix bench redistribution`, on private meshes.
void add_bench_redistribution(const options::Parser& bench, Action& chosen);

/// Seconds of the clock that phoenix-bench uses, too.
[[nodiscard]] double bench_clock_s();

}  // namespace phx::app
