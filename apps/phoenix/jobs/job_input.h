#pragma once

#include <atomic>
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
  /// The process that reads it.
  struct Reader {
    JobId job;
    ProcessorId processor;  ///< Where it is.
    bool is_fixed = false;  ///< It stays there until it ends.
  };
  JobInput(const std::string& mesh, const Reader& reader);
  /// Ends it. False: the process has gone with its processor before it had all of the input, as a
  /// word on stderr has said. What lay in its pipe, 64 KiB at most, counts as read.
  [[nodiscard]] bool end();

 private:
  std::atomic<bool> is_lost_ = false;
  std::jthread thread_;
};

}  // namespace phx::app
