#include "runtime/tcp/mesh_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace phx::tcp {
namespace fs = std::filesystem;
namespace {

constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Error refusal(const std::string& path, const std::string& what) {
  return {ErrorCode::kDenied,
          path + " " + what + "; set PHOENIX_DIR to a folder of yours, which is made if missing"};
}

/// What the system does not allow just now is no fault of the folder.
Error system_refusal(const std::string& path, const std::string& what, int error) {
  const std::string text = what + ": " + std::strerror(error);
  if (error == EMFILE || error == ENFILE) {
    return {ErrorCode::kLimit, path + " " + text + "; ulimit -n 1024 allows more of them"};
  }
  if (error == EROFS) {
    return {ErrorCode::kDenied, path + " " + text +
                                    "; set PHOENIX_DIR to a folder of yours on a disk that can "
                                    "be written"};
  }
  return refusal(path, text);
}

/// Whether entries of a folder above ours are safe: others must not be able to rename them.
Status check_above(const std::string& path, const struct stat& found, uid_t system) {
  const bool is_trusted = found.st_uid == system || found.st_uid == ::geteuid();
  if (!is_trusted) {
    return refusal(path, "belongs to somebody else (user " + std::to_string(found.st_uid) + ")");
  }
  const bool is_writable = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (is_writable && (found.st_mode & S_ISVTX) == 0) {
    return refusal(path, "can be written by others, who could replace what is in it");
  }
  return success();
}

Status check_ours(const std::string& path, const struct stat& found) {
  if (found.st_uid != ::geteuid()) {
    return refusal(path, "belongs to somebody else (user " + std::to_string(found.st_uid) + ")");
  }
  if ((found.st_mode & 077U) == 0) return success();
  // Of folders like /tmp or a home nobody must be told to change the mode.
  const bool is_shared = (found.st_mode & S_ISVTX) != 0;
  return refusal(path,
                 std::string("can be opened by others") +
                     (is_shared ? "" : " (if it is for meshes alone: chmod 700 " + path + ")"));
}

/// Opens the folder `name` of `above`, and makes it if that is wanted. None: it is missing.
Result<std::optional<Descriptor>> enter(const Descriptor& above, const std::string& name,
                                        const std::string& path, bool makes) {
  Descriptor folder(::openat(above.get(), name.c_str(), kFolder));
  if (!folder.is_open() && errno == ENOENT && makes) {
    if (::mkdirat(above.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
      return system_refusal(path, "cannot be made", errno);
    }
    folder.reset(::openat(above.get(), name.c_str(), kFolder));
  }
  if (folder.is_open()) return std::optional<Descriptor>(std::move(folder));
  if (errno == ENOENT && !makes) return std::optional<Descriptor>();
  const bool is_other = errno == ENOTDIR || errno == ELOOP;
  return is_other ? refusal(path, "is no folder, or a symbolic link")
                  : system_refusal(path, "cannot be opened", errno);
}

/// Component by component, so that nothing changes between a check and the next step.
Status walk(const std::string& wanted, bool makes) {
  std::error_code failure;
  const fs::path whole = fs::absolute(wanted, failure).lexically_normal();
  const fs::path path = whole.has_filename() ? whole : whole.parent_path();
  // Links above are as good as the folders that they are in and lead to, and these are looked at.
  const fs::path above = fs::weakly_canonical(path.parent_path(), failure);
  if (failure) return refusal(path, "cannot be reached: " + failure.message());
  Descriptor here(::open("/", kFolder));
  struct stat found {};
  if (!here.is_open()) return system_refusal("/", "cannot be opened", errno);
  if (::fstat(here.get(), &found) != 0) return refusal("/", "cannot be looked at");
  // Root; or, where the numbers of users are mapped, whoever stands for it.
  const uid_t system = found.st_uid;
  const fs::path real = above / path.filename();
  fs::path at = "/";
  for (const fs::path& part : real.relative_path()) {
    at /= part;
    Result<std::optional<Descriptor>> next = enter(here, part, at, makes);
    if (!next.ok()) return next.error();
    if (!next.value()) return success();
    here = std::move(*next.value());
    if (::fstat(here.get(), &found) != 0) return refusal(at, "cannot be looked at");
    const Status checked = at == real ? check_ours(at, found) : check_above(at, found, system);
    if (!checked.ok()) return checked;
  }
  return success();
}

}  // namespace

std::string meshes_folder() {
  const char* const chosen = std::getenv("PHOENIX_DIR");
  std::error_code failure;
  // Absolute: daemons and processes of jobs have other folders.
  if (chosen != nullptr && *chosen != '\0') {
    return fs::absolute(chosen, failure).lexically_normal();
  }
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && fs::is_directory(runtime, failure)) {
    return std::string(runtime) + "/phoenix";
  }
  return "/tmp/phoenix-" + std::to_string(::geteuid());
}

Status check_private(const std::string& path) {
  return walk(path, /*makes=*/false);
}

Status make_private(const std::string& path) {
  return walk(path, /*makes=*/true);
}

Status lock_for_life(const Descriptor& file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_SETLK, &lock) == 0) return success();
  return Error{ErrorCode::kDenied, std::string("cannot be locked: ") + std::strerror(errno)};
}

void remove_folder(const std::string& path) {
  // Each failure of these two kinds is a file that another process took away, or made.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    std::error_code failure;
    fs::remove_all(path, failure);
    const bool has_changed = failure == std::errc::no_such_file_or_directory ||
                             failure == std::errc::directory_not_empty;
    if (!has_changed) return;
  }
}

std::optional<pid_t> holder_of(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (file.is_open()) return holder_of(file);
  const bool is_none = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
  return is_none ? std::nullopt : std::optional(kUnnamed);  // Else, say, no descriptor is left.
}

std::optional<pid_t> holder_of(const Descriptor& file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool is_locked = ::fcntl(file.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  if (!is_locked) return std::nullopt;
  // The system says 0 of a process that is in none of the namespaces of this one.
  return lock.l_pid > 0 ? lock.l_pid : kUnnamed;
}

std::string in_words(pid_t holder) {
  return holder == kUnnamed ? "in another container" : "process " + std::to_string(holder);
}

void signal_holder_of(const std::string& path, int signal) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  const pid_t holder = file.is_open() ? holder_of(file).value_or(kUnnamed) : kUnnamed;
  if (holder == kUnnamed) return;
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, holder, 0U)));
  // It holds the lock still, so it has lived all the time, and what was opened is it.
  if (process.is_open() && holder_of(file) == holder) {
    ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0U);
  }
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

}  // namespace phx::tcp
