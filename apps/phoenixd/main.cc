// phoenixd: one processor of a mesh.
//
// Exit codes: 0 left in good order; 2 bad configuration, port taken, key unreadable, not admitted;
// 3 lost the mesh or was declared dead by it; 130 interrupted twice.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/phoenix/command_line/standard_streams.h"
#include "apps/phoenixd/detach.h"
#include "apps/phoenixd/keeper_path.h"
#include "apps/phoenixd/options.h"
#include "apps/phoenixd/scheduling.h"
#include "apps/phoenixd/state_file.h"
#include "runtime/tcp/open_files.h"
#include "runtime/tcp/tcp_driver.h"

namespace phx::phoenixd {
namespace {

int complain(const std::string& what, int code) {
  std::cerr << "phoenixd: " << what << '\n';
  return code;
}

/// A mesh of many processors needs a descriptor per member, and jobs some more.
Status allow_many_descriptors() {
  constexpr rlim_t kFewest = 64;
  const rlim_t may_have = tcp::raise_open_files();
  if (may_have == 0 || may_have >= kFewest) return success();
  return Error{ErrorCode::kLimit,
               "it may have no more than " + std::to_string(may_have) + " files open, and needs " +
                   std::to_string(kFewest) +
                   ", and one for each other daemon; see ulimit -Hn where it is started"};
}

/// Tells whoever started us. False: nobody listens any more.
bool announce(int fd, ProcessorId id, const std::string& endpoint) {
  if (fd < 0) return true;
  const std::string line = std::to_string(id.value) + " " + endpoint + "\n";
  const bool is_heard = ::write(fd, line.data(), line.size()) >= 0;
  ::close(fd);
  return is_heard;
}

/// Nobody has the other end of this pipe any more.
bool is_hung_up(const tcp::Descriptor& lifeline) {
  pollfd polled{lifeline.get(), POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0;
}

void warn_of_leftovers(tcp::LogSink& log, const std::string& keeper) {
  const std::string lack = lack_for_keeping(keeper);
  if (lack.empty()) return;
  log.write(runtime::Note::Level::kWarn, "leftovers-not-found",
            lack +
                ": what a job's processes start in process groups of their own is not found, "
                "and outlives the job and this daemon");
}

int run(const Options& options) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // A log at its limit (ulimit -f) loses lines, as on a full disk.
  bind_to(options.cpus);
  ask_for_short_slices();
  if (const Status many = allow_many_descriptors(); !many.ok()) {
    return complain(many.error().what, kBadConfiguration);
  }
  Result<tcp::LogSink> log = tcp::LogSink::open(options.log);
  if (!log.ok()) return complain(log.error().what, kBadConfiguration);
  warn_of_leftovers(log.value(), options.driver.keeper);
  trim_logs(options.mesh_dir);
  auto state = StateFile::reserve(options.mesh_dir);
  if (!state.ok()) return complain(state.error().what, kBadConfiguration);
  auto started = tcp::TcpDriver::start(options.driver, std::move(log).value());
  if (!started.ok()) {
    std::string what = started.error().what;
    const std::string there = started.error().code == ErrorCode::kBusy && options.driver.listen
                                  ? running_at(options.mesh_dir, options.driver.listen->port)
                                  : "";
    if (!there.empty()) what += " (" + there + " of this mesh is there: is it this daemon?)";
    return complain(what, kBadConfiguration);
  }
  tcp::TcpDriver& driver = *started.value();
  driver.obey_signals();
  if (options.network) driver.know(*options.network);
  const Status written = state.value().fill(
      {.id = driver.self(), .name = options.driver.name, .endpoints = driver.endpoints()});
  if (!written.ok()) {
    // Nobody here would find it; but it is a member already, and others count on it.
    complain(written.error().what, kBadConfiguration);
    std::raise(SIGTERM);
  } else if (!announce(options.ready_fd, driver.self(), driver.endpoints().front())) {
    std::cerr << "phoenixd: whoever started this daemon is gone: it leaves\n";
    std::raise(SIGTERM);
  }
  if (options.lifeline_fd >= 0) driver.end_with(tcp::Descriptor(options.lifeline_fd));
  if (options.detached) let_go_of_terminal(options.log.file);
  const runtime::Stop stop = driver.run();
  if (!written.ok()) return kBadConfiguration;
  return stop.code == 0 ? 0 : complain(stop.reason, stop.code);
}

}  // namespace
}  // namespace phx::phoenixd

int main(int argc, char** argv) {
  phx::app::mend_what_is_inherited();
  // Before all else: names of files contain the number of the process that stays.
  const std::vector<std::string_view> words(argv, argv + argc);
  const bool detached = std::find(words.begin(), words.end(), "--detach") != words.end();
  const int ready_fd = detached ? phx::phoenixd::detach().ready_fd : -1;
  auto options = phx::phoenixd::read_options(argc, argv);
  if (const auto* exit = std::get_if<phx::phoenixd::ExitAtOnce>(&options)) return exit->code;
  if (detached) std::get_if<phx::phoenixd::Options>(&options)->ready_fd = ready_fd;
  const auto& wanted = *std::get_if<phx::phoenixd::Options>(&options);
  if (detached) phx::tcp::close_inherited({ready_fd, wanted.lifeline_fd});
  const phx::tcp::Descriptor lifeline(
      wanted.lifeline_fd < 0 ? -1
                             : ::fcntl(wanted.lifeline_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const int code = phx::phoenixd::run(wanted);
  // Where a key lies, somebody uses the mesh from this machine, and takes its folder away.
  const bool has_key = ::access((wanted.mesh_dir + "/key").c_str(), F_OK) == 0;
  if (wanted.is_guest && code == 0 && !has_key) phx::phoenixd::remove_if_last(wanted.mesh_dir);
  // Else whoever started the mesh takes its folder away.
  if (lifeline.is_open() && phx::phoenixd::is_hung_up(lifeline)) {
    phx::phoenixd::remove_if_last(wanted.mesh_dir);
  }
  return code;
}
