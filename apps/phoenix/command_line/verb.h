#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/options/parser.h"
#include "overlay/base/result.h"

namespace phx::app {

/// Exit codes of the tool (a job's own code is passed on by `phoenix run`).
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,         ///< Something could not be done, or a result was wrong.
  kUsage = 2,          ///< The command line, a file or the set-up is wrong.
  kTimedOut = 124,     ///< A job has been ended after its --timeout, as `timeout` gives it.
  kInterrupted = 130,  ///< By Ctrl-C or the like.
  kUnread = 141,       ///< Whoever read what it prints is gone.
};

/// What a verb's options say to do; returns the exit code.
using Action = std::function<int()>;

/// Declares `--mesh`, which every verb that concerns a mesh has; $PHOENIX_MESH is its default.
void add_mesh_option(const options::Parser& verb, std::string& mesh);

/// Longer waits than this, some thirty years, would not fit into what counts them.
inline constexpr double kSecondsMost = 1e9;
/// For options with a time in seconds.
[[nodiscard]] options::Check seconds_above_0();

/// The names of its verbs; and of its long options, with "--".
[[nodiscard]] std::vector<std::string> verbs_of(const CLI::App& app);
[[nodiscard]] std::vector<std::string> options_of(const CLI::App& app);

/// Prints "phoenix: WHAT" on stderr and returns `code`.
int fail(const std::string& what, int code = kFailed);
/// kUsage for kBadInput: another command line is needed; else kFailed.
int fail(const Error& error);

}  // namespace phx::app
