#pragma once

#include <filesystem>
#include <optional>
#include <set>
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
    std::string name;          ///< Of the job.
    std::string log;           ///< The absolute path of the file with the job's output.
    std::optional<int> code;   ///< The job has ended, with this exit code.
    std::string reason;        ///< Why it has; empty: by itself.
    std::string loss;          ///< What became of output that is not in the file; empty: all is.
    bool is_followed = false;  ///< The tool lives.
    bool is_outdated = false;  ///< The mesh that runs under this name now is another one.
  };
  /// Opens it for find(). Nothing: no such job was detached here.
  [[nodiscard]] static std::optional<tcp::Descriptor> open(const std::string& mesh, JobId job);
  /// Of that very job, also when a later one of another mesh has taken its name.
  [[nodiscard]] static std::optional<Found> find(const std::string& mesh,
                                                 const tcp::Descriptor& record);
  /// open() and find().
  [[nodiscard]] static std::optional<Found> find(const std::string& mesh, JobId job);
  /// The jobs of this name that were detached here, from the mesh that has this name now.
  [[nodiscard]] static std::set<JobId> named(const std::string& mesh, const std::string& name);

  /// What is written at the beginning.
  struct Begin {
    std::string log;
    std::string name;  ///< Of the job.
  };
  /// Also removes records of jobs that were over a week ago. kDenied: it cannot be written.
  [[nodiscard]] static Result<JobRecord> make(const std::string& mesh, JobId job,
                                              const Begin& begin);
  /// What is written when the job has ended.
  struct End {
    int code;
    std::string reason;
    std::string loss;
  };
  void end(const End& end);
  /// The same for one that another tool has followed to its end, because the first one was gone.
  static void end(const std::string& mesh, JobId job, const End& end);

 private:
  explicit JobRecord(tcp::Descriptor file) : file_(std::move(file)) {}

  tcp::Descriptor file_;
};

/// Of "j4" or "4"; nothing: it is a name.
[[nodiscard]] std::optional<JobId> job_number_in(const std::string& text);
/// As words for the command line: "j4", or "j4 --mesh x".
[[nodiscard]] std::string job_words(JobId job, const std::string& mesh);
/// The job that `text` means: "j4", "4", or a name. Of several of that name: one that was detached
/// here, the last, which is told; else the one that runs. kNotFound: none; kBadInput: several. The
/// error says what would be right.
[[nodiscard]] Result<JobId> find_logged_job(const std::string& mesh, const std::string& text);
/// The same, but one that runs first.
[[nodiscard]] Result<JobId> find_running_job(const std::string& mesh, const std::string& text);

}  // namespace phx::app
