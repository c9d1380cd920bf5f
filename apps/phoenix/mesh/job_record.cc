#include "apps/phoenix/mesh/job_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/mesh_dir.h"
#include "apps/phoenix/mesh/session.h"
#include "runtime/tcp/mesh_folder.h"

namespace phx::app {
namespace fs = std::filesystem;
namespace {

std::string folder() {
  return tcp::meshes_folder() + "/.jobs";
}

std::string path_of(const std::string& mesh, JobId job) {
  return folder() + "/" + mesh + "." + to_string(job);
}

/// Of one that is open, for others to open it once more.
std::string path_of(const tcp::Descriptor& record) {
  return "/proc/self/fd/" + std::to_string(record.get());
}

/// Nobody would remove those of private meshes else, whose names do not come again.
void remove_old() {
  constexpr auto kKept = std::chrono::hours(24 * 7);
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder(), failure)) {
    const auto age = fs::file_time_type::clock::now() - entry.last_write_time(failure);
    if (failure || age < kKept || tcp::holder_of(entry.path())) continue;
    fs::remove(entry.path(), failure);
  }
}

/// Those of this name that a mesh has, if it answers.
std::set<JobId> running(const std::string& mesh, const std::string& name) {
  std::set<JobId> jobs;
  auto session = connect(mesh);
  const auto status = session.ok() ? ask_status(session.value()) : session.error();
  if (!status.ok()) return jobs;
  for (const auto& processor : status.value().processors) {
    for (const auto& job : processor.jobs) {
      if (job.name == name) jobs.insert(job.job);
    }
  }
  return jobs;
}

Result<JobId> the_one(const std::set<JobId>& jobs, const std::string& mesh,
                      const std::string& name) {
  if (jobs.size() == 1) return *jobs.begin();
  if (jobs.empty()) {
    return Error{ErrorCode::kNotFound,
                 "'" + name + "' is no job, which would be j2, 2, or its name; see phoenix ps" +
                     mesh_words(mesh)};
  }
  std::string list;
  for (const JobId job : jobs) list += " " + to_string(job);
  return Error{ErrorCode::kBadInput, "several jobs are called '" + name + "':" + list};
}

/// Of the jobs of this name that were detached here; says so if there are several.
JobId last_of(const std::set<JobId>& jobs, const std::string& name) {
  const JobId last = *jobs.rbegin();
  if (jobs.size() == 1) return last;
  std::string others;
  for (const JobId job : jobs) {
    if (job != last) others += " " + to_string(job);
  }
  fail(to_string(last) + ", the last one called '" + name + "'; there are also" + others);
  return last;
}

Status write_line(const tcp::Descriptor& file, const std::string& line) {
  const ssize_t size = ::write(file.get(), line.data(), line.size());
  if (size == static_cast<ssize_t>(line.size())) return success();
  return Error{ErrorCode::kDenied, std::strerror(errno)};
}

/// The code last: where it stands all is there.
std::string lines_of_end(const JobRecord::End& end) {
  std::string reason = end.reason;
  std::ranges::replace(reason, '\n', ' ');
  return (reason.empty() ? "" : "reason " + reason + "\n") +
         (end.loss.empty() ? "" : "loss " + end.loss + "\n") + "code " + std::to_string(end.code) +
         "\n";
}

}  // namespace

Result<JobRecord> JobRecord::make(const std::string& mesh, JobId job, const Begin& begin) {
  const auto dir = MeshDir::open(mesh);
  if (!dir.ok()) return dir.error();
  if (const Status made = tcp::make_private(folder()); !made.ok()) return made.error();
  remove_old();
  const std::string path = path_of(mesh, job);
  // A new file: whoever reads the one of an earlier job goes on with that.
  ::unlink(path.c_str());
  tcp::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    return Error{ErrorCode::kDenied, "cannot write " + path + ": " + std::strerror(errno)};
  }
  Status done = tcp::lock_for_life(file);
  const std::string text =
      "mesh " + dir.value().key_stamp() + "\nname " + begin.name + "\nlog " + begin.log + "\n";
  if (done.ok()) done = write_line(file, text);
  if (done.ok()) return JobRecord(std::move(file));
  return Error{ErrorCode::kDenied, "cannot write " + path + ": " + done.error().what};
}

void JobRecord::end(const End& end) {
  // Without it others read that the tool has ended, and not how.
  static_cast<void>(write_line(file_, lines_of_end(end)));
}

void JobRecord::end(const std::string& mesh, JobId job, const End& end) {
  const int flags = O_WRONLY | O_APPEND | O_CLOEXEC;
  const tcp::Descriptor file(::open(path_of(mesh, job).c_str(), flags));
  if (file.is_open()) static_cast<void>(write_line(file, lines_of_end(end)));
}

std::optional<tcp::Descriptor> JobRecord::open(const std::string& mesh, JobId job) {
  if (!MeshDir::open(mesh).ok() || !tcp::check_private(folder()).ok()) return std::nullopt;
  tcp::Descriptor file(::open(path_of(mesh, job).c_str(), O_RDONLY | O_CLOEXEC));
  return file.is_open() ? std::optional(std::move(file)) : std::nullopt;
}

std::optional<JobRecord::Found> JobRecord::find(const std::string& mesh,
                                                const tcp::Descriptor& record) {
  const auto dir = MeshDir::open(mesh);
  const std::string stamp = dir.ok() ? dir.value().key_stamp() : "";
  Found found;
  // First whether it lives: then, if it does not, all that it wrote is there.
  found.is_followed = tcp::holder_of(record).has_value();
  std::ifstream file(path_of(record));
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("mesh ")) found.is_outdated = !stamp.empty() && line.substr(5) != stamp;
    if (line.starts_with("name ")) found.name = line.substr(5);
    if (line.starts_with("log ")) found.log = line.substr(4);
    if (line.starts_with("reason ")) found.reason = line.substr(7);
    if (line.starts_with("loss ")) found.loss = line.substr(5);
    if (line.starts_with("code ")) found.code = std::atoi(line.c_str() + 5);
  }
  return found.log.empty() ? std::nullopt : std::optional(std::move(found));
}

std::optional<JobRecord::Found> JobRecord::find(const std::string& mesh, JobId job) {
  const auto record = open(mesh, job);
  return record ? find(mesh, *record) : std::nullopt;
}

std::set<JobId> JobRecord::named(const std::string& mesh, const std::string& name) {
  std::set<JobId> jobs;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder(), failure)) {
    const std::string file = entry.path().filename();
    if (!file.starts_with(mesh + ".")) continue;
    const auto job = job_number_in(file.substr(mesh.size() + 1));
    const auto found = job ? find(mesh, *job) : std::nullopt;
    if (found && !found->is_outdated && found->name == name) jobs.insert(*job);
  }
  return jobs;
}

std::optional<JobId> job_number_in(const std::string& text) {
  const char* const begin = text.data() + (text.starts_with('j') ? 1 : 0);
  const char* const end = text.data() + text.size();
  JobId::rep number = 0;
  const auto [at, error] = std::from_chars(begin, end, number);
  const bool is_number = begin != end && at == end && error == std::errc();
  return is_number ? std::optional(JobId{number}) : std::nullopt;
}

std::string job_words(JobId job, const std::string& mesh) {
  return to_string(job) + mesh_words(mesh);
}

Result<JobId> find_logged_job(const std::string& mesh, const std::string& text) {
  if (const auto job = job_number_in(text)) return *job;
  const std::set<JobId> logged = JobRecord::named(mesh, text);
  return logged.empty() ? the_one(running(mesh, text), mesh, text) : last_of(logged, text);
}

Result<JobId> find_running_job(const std::string& mesh, const std::string& text) {
  if (const auto job = job_number_in(text)) return *job;
  const auto jobs = running(mesh, text);
  const std::set<JobId> logged = jobs.empty() ? JobRecord::named(mesh, text) : std::set<JobId>();
  return logged.empty() ? the_one(jobs, mesh, text) : last_of(logged, text);
}

}  // namespace phx::app
