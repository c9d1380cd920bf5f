#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/jobs/child.h"
#include "apps/phoenix/mesh/mesh_dir.h"
#include "overlay/base/result.h"

namespace phx::app {

/// phoenix-bench in a process of its own, beside whatever the tool does meanwhile. Ends with the
/// object, however little of it is over.
class BenchJob {
 public:
  struct Options {
    bool balance = true;
    /// It goes on until it is told by finish(): `--until FILE` is added to its arguments.
    bool until_told = false;
  };

  /// As a job of so many vnodes in a mesh.
  [[nodiscard]] static Result<BenchJob> start_in(const std::string& mesh, std::uint64_t vnodes,
                                                 const std::vector<std::string>& arguments,
                                                 const Options& options);
  /// With daemons inside its processes.
  [[nodiscard]] static Result<BenchJob> start_embedded(const std::vector<std::string>& arguments,
                                                       const Options& options);
  ~BenchJob();
  BenchJob(BenchJob&& other) noexcept;
  BenchJob& operator=(BenchJob&&) = delete;
  BenchJob(const BenchJob&) = delete;
  BenchJob& operator=(const BenchJob&) = delete;

  [[nodiscard]] bool has_ended();
  /// Until it has ended: what it said. kAborted: interrupted.
  [[nodiscard]] Result<Said> wait(const OnFigure& on_figure = {});
  /// Tells it that it is enough, and waits. If it cannot be told, it is ended.
  [[nodiscard]] Result<Said> finish();

 private:
  BenchJob(Child child, std::vector<std::string> arguments, std::string until)
      : child_(std::move(child)), arguments_(std::move(arguments)), until_(std::move(until)) {}
  /// False: it has ended.
  bool take(const OnFigure& on_figure = {});
  [[nodiscard]] Error failed() const;

  Child child_;
  std::vector<std::string> arguments_;
  std::string until_;           ///< Empty: it ends by itself.
  std::optional<MeshDir> own_;  ///< With the key of daemons inside.
  std::string lines_;           ///< What is no figure.
  Said said_;
};

}  // namespace phx::app
