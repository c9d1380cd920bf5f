#pragma once

#include <string>
#include <thread>

#include "overlay/base/ids.h"

namespace phx::app {

/// Passes this program's standard input on to one process of a job, on a thread of its own, as
/// fast as that reads it: what is not taken yet is read no further here. A terminal is read only
/// while this program is in its foreground. Ends with the input, with the process, or with this
/// object.
class JobInput {
 public:
  /// `first`: the processor where that process is.
  JobInput(const std::string& mesh, JobId job, ProcessorId first);

 private:
  std::jthread thread_;
};

}  // namespace phx::app
