#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overlay/base/result.h"
#include "runtime/sim/cluster.h"

namespace phx::sim {

/// A scenario file: comments, a script, a line `----`, and the exact transcript of the run. The
/// verbs of scripts are listed in runtime/sim/README.md.
struct ScenarioFile {
  std::string script;
  std::vector<std::string> transcript;
};
[[nodiscard]] ScenarioFile split_scenario(std::string_view text);
/// The text that split_scenario() reads back.
[[nodiscard]] std::string join_scenario(const ScenarioFile& file);

/// What a script led to. Good: no violations.
struct ScenarioOutcome {
  std::vector<std::string> transcript;
  std::vector<std::string> violations;
};
/// kBadInput: names the statement and what is wrong with it.
/// `wire`: messages become bytes and are read back, which changes nothing in the transcript.
[[nodiscard]] Result<ScenarioOutcome> run_scenario(std::string_view script, bool wire = false);

/// Runs the statements of one script. Not thread-safe.
class Scenario {
 public:
  explicit Scenario(bool wire) : wire_(wire) {}

  /// Words of one statement: bare ones in order, and `key=value` ones.
  struct Statement {
    std::vector<std::string> words;
    std::map<std::string, std::string> values;
  };

  /// Empty, or what is wrong.
  [[nodiscard]] std::string run(const Statement& statement);
  [[nodiscard]] ScenarioOutcome finish();

 private:
  std::string on_cluster(const Statement& statement);
  std::string on_show(const Statement& statement);
  std::string on_stabilize(const Statement& statement);
  std::string on_job(const Statement& statement);
  std::string on_join(const Statement& statement);
  std::string on_processor(const Statement& statement);
  std::string on_break(const Statement& statement);
  std::string on_run(const Statement& statement);
  std::string on_finish(const Statement& statement);
  [[nodiscard]] std::string befall(const std::string& verb, ProcessorId processor,
                                   const Statement& statement);
  /// Does it now, or later if the statement says `at=+5ms`.
  std::string at(const Statement& statement, std::function<void()> action);

  bool wire_;
  std::unique_ptr<Cluster> cluster_;
  Workload* job_ = nullptr;
  std::vector<std::string> shown_;  ///< Names whose lines are kept; empty: all.
};

}  // namespace phx::sim
