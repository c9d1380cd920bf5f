#include "apps/phoenix/job_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>

#include "apps/phoenix/mesh_dir.h"
#include "runtime/tcp/mesh_folder.h"

namespace phx::app {
namespace {

std::string folder() {
  return tcp::meshes_folder() + "/.jobs";
}

std::string path_of(const std::string& mesh, JobId job) {
  return folder() + "/" + mesh + "." + to_string(job);
}

/// Tells the mesh from others of its name: each has a key of its own. Empty: there is none.
std::string stamp_of(const std::string& mesh) {
  const auto dir = MeshDir::open(mesh);
  struct stat key {};
  if (!dir.ok() || ::stat(dir.value().key_file().c_str(), &key) != 0) return {};
  return std::to_string(key.st_ino) + "." + std::to_string(key.st_ctim.tv_sec) + "." +
         std::to_string(key.st_ctim.tv_nsec);
}

Status write_line(const tcp::Descriptor& file, const std::string& line) {
  const ssize_t size = ::write(file.get(), line.data(), line.size());
  if (size == static_cast<ssize_t>(line.size())) return success();
  return Error{ErrorCode::kDenied, std::strerror(errno)};
}

}  // namespace

Result<JobRecord> JobRecord::make(const std::string& mesh, JobId job, const std::string& log) {
  if (const Status made = tcp::make_private(folder()); !made.ok()) return made.error();
  const std::string path = path_of(mesh, job);
  // A new file: whoever reads the one of an earlier job goes on with that.
  ::unlink(path.c_str());
  tcp::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    return Error{ErrorCode::kDenied, "cannot write " + path + ": " + std::strerror(errno)};
  }
  Status done = tcp::lock_for_life(file);
  if (done.ok()) done = write_line(file, "mesh " + stamp_of(mesh) + "\nlog " + log + "\n");
  if (done.ok()) return JobRecord(std::move(file));
  return Error{ErrorCode::kDenied, "cannot write " + path + ": " + done.error().what};
}

void JobRecord::end(int code) {
  // Without it others read that the tool has ended, and not how.
  static_cast<void>(write_line(file_, "code " + std::to_string(code) + "\n"));
}

std::optional<JobRecord::Found> JobRecord::find(const std::string& mesh, JobId job) {
  if (!MeshDir::open(mesh).ok() || !tcp::check_private(folder()).ok()) return std::nullopt;
  const std::string path = path_of(mesh, job);
  const std::string stamp = stamp_of(mesh);
  Found found;
  // First whether it lives: then, if it does not, all that it wrote is there.
  found.is_followed = tcp::holder_of(path).has_value();
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("mesh ")) found.is_outdated = !stamp.empty() && line.substr(5) != stamp;
    if (line.starts_with("log ")) found.log = line.substr(4);
    if (line.starts_with("code ")) found.code = std::atoi(line.c_str() + 5);
  }
  return found.log.empty() ? std::nullopt : std::optional(std::move(found));
}

std::string job_words(JobId job, const std::string& mesh) {
  return to_string(job) + (mesh == "default" ? "" : " --mesh " + mesh);
}

Result<JobId> parse_job(const std::string& text) {
  const char* const begin = text.data() + (text.starts_with('j') ? 1 : 0);
  const char* const end = text.data() + text.size();
  JobId::rep number = 0;
  const auto [at, error] = std::from_chars(begin, end, number);
  if (begin != end && at == end && error == std::errc()) return JobId{number};
  return Error{ErrorCode::kBadInput,
               "'" + text + "' is no job, which would be j2 or 2; see phoenix ps"};
}

}  // namespace phx::app
