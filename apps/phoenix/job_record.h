#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "overlay/base/ids.h"
#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

namespace phx::app {

/// What the tool that follows a detached job writes down about itself, for other tools of this user
/// on this machine: in "MESH.j4" within the folder ".jobs" beside those of the meshes. It is locked
/// as long as that tool lives, and outlives the mesh; the next job of that name replaces it.
class JobRecord {
 public:
  struct Found {
    std::string log;           ///< The absolute path of the file with the job's output.
    std::optional<int> code;   ///< The job has ended, with this exit code.
    bool is_followed = false;  ///< The tool lives.
    bool is_outdated = false;  ///< The mesh that runs under this name now is another one.
  };
  /// Nothing: no such job was detached here.
  [[nodiscard]] static std::optional<Found> find(const std::string& mesh, JobId job);

  /// kDenied: it cannot be written.
  [[nodiscard]] static Result<JobRecord> make(const std::string& mesh, JobId job,
                                              const std::string& log);
  /// The job has ended.
  void end(int code);

 private:
  explicit JobRecord(tcp::Descriptor file) : file_(std::move(file)) {}

  tcp::Descriptor file_;
};

/// As words for the command line: "j4", or "j4 --mesh x".
[[nodiscard]] std::string job_words(JobId job, const std::string& mesh);
/// "j4" or "4". kBadInput: the error says what would be right.
[[nodiscard]] Result<JobId> parse_job(const std::string& text);

}  // namespace phx::app
