#pragma once

#include <string>
#include <vector>

namespace phx::app {

/// What the processes of a job get beside the environment of their daemons: "NAME=VALUE" each.
/// `wished`: the same, or NAME for its value here, or NAME* for all that begin so. Of several the
/// last counts. A NAME that has no value here is left out, and told on stderr.
[[nodiscard]] std::vector<std::string> environment_of(const std::vector<std::string>& wished);

}  // namespace phx::app
