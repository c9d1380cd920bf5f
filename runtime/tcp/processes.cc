#include "runtime/tcp/processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

#include "runtime/tcp/input_pipe.h"
#include "runtime/tcp/memory_kills.h"
#include "runtime/tcp/output_pipe.h"
#include "runtime/tcp/steady_now.h"

namespace phx::tcp {

struct Processes::Child {
  Child(const asio::any_io_executor& executor, const SpawnRequest& wanted, Spawned&& spawned)
      : request(wanted),
        process(spawned.process),
        ended(executor, spawned.ended.release()),
        exec(std::move(spawned.exec)),
        commands(std::move(spawned.commands)),
        loading(executor),
        escalation(executor) {}

  SpawnRequest request;
  std::uint64_t memory_kills_before = memory_kills();
  pid_t process;
  asio::posix::stream_descriptor ended;
  Descriptor exec;
  Descriptor commands;             ///< To its keeper; none: there is no keeper.
  std::optional<int> exec_result;  ///< What exec_error() has given.
  bool is_given_up = false;        ///< Its end has been reported, although it has not ended.
  asio::steady_timer loading;      ///< Limits it.
  asio::steady_timer escalation;
  std::shared_ptr<OutputPipe> output;
  std::shared_ptr<OutputPipe> errors;
  std::shared_ptr<InputPipe> input;  ///< None: its standard input is empty.
  bool is_held = false;              ///< Its output is not read.

  /// To the whole group. The group exists as long as its leader has not been waited for.
  void kill(int signal) const {
    const auto number = static_cast<unsigned char>(signal);
    if (!commands.is_open()) {
      ::kill(-process, signal);
    } else {
      [[maybe_unused]] const ssize_t sent =
          ::send(commands.get(), &number, sizeof(number), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
  }
  [[nodiscard]] bool is_loading() {
    if (!exec_result) exec_result = exec_error(exec);
    return !exec_result;
  }
  void pause_output(bool paused) const {
    output->pause(paused);
    errors->pause(paused);
  }
  void finish_output() const {
    output->finish();
    errors->finish();
  }
};

namespace {

/// How long the end of all waits for that of a process, which a file server that does not answer
/// may hold up: so does its loading, and so does what it reads there.
constexpr Duration kLoadingPatience = 500ms;
constexpr Duration kEndPatience = 5s;

/// REQUIRES that the process has ended.
runtime::Exit wait_for(pid_t process) {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(process, &status, 0);
  } while (waited < 0 && errno == EINTR);
  runtime::Exit exit;
  if (waited == process && WIFSIGNALED(status)) {
    exit.signal = WTERMSIG(status);
  } else if (waited == process && WIFEXITED(status)) {
    exit.code = WEXITSTATUS(status);
  } else {
    exit.code = 125;
    exit.detail = "its exit code was taken by somebody else";
  }
  return exit;
}

runtime::Exit never_ran(ExecFailure&& failure) {
  runtime::Exit exit;
  exit.code = failure.exit_code;
  exit.detail = std::move(failure.what);
  return exit;
}

}  // namespace

Processes::Processes(asio::any_io_executor executor, Handlers handlers, Duration loading_max)
    : executor_(std::move(executor)),
      handlers_(std::make_shared<Handlers>(std::move(handlers))),
      loading_max_(loading_max) {}

Processes::~Processes() {
  handlers_->on_output = nullptr;
  handlers_->on_input_taken = nullptr;
  handlers_->on_ended = nullptr;
  for (const auto& [job, child] : children_) {
    child->kill(SIGKILL);
    child->commands.reset();
  }
  const Instant begin = steady_now();
  for (const auto& [job, child] : children_) {
    const Duration patience = child->is_loading() ? kLoadingPatience : kEndPatience;
    pollfd ended{child->ended.native_handle(), POLLIN, 0};
    int ready = -1;
    do {  // Where a daemon is inside, signals of the program come.
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(begin + patience - steady_now());
      ready = ::poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    } while (ready < 0 && errno == EINTR);
    if (ready > 0) static_cast<void>(wait_for(child->process));
  }
}

void Processes::start(JobId job, const SpawnRequest& request) {
  if (request.command.empty() || children_.contains(job)) {
    report_failure(job, 125,
                   request.command.empty() ? "the job has no command" : "it runs here already");
    return;
  }
  Result<Spawned> spawned = spawn(request);
  if (!spawned.ok()) {
    report_failure(job, 125, spawned.error().what);
    return;
  }
  Spawned& process = spawned.value();
  const auto reader = [&](Descriptor&& from, bool is_error) {
    return std::make_shared<OutputPipe>(executor_, std::move(from),
                                        [handlers = handlers_, job, is_error](Payload bytes) {
                                          if (handlers->on_output) {
                                            handlers->on_output(job, is_error, std::move(bytes));
                                          }
                                        });
  };
  auto output = reader(std::move(process.output), false);
  auto errors = reader(std::move(process.errors), true);
  Descriptor fed = std::move(process.input);
  auto child = std::make_shared<Child>(executor_, request, std::move(process));
  child->output = std::move(output);
  child->errors = std::move(errors);
  if (fed.is_open()) {
    child->input = std::make_shared<InputPipe>(
        executor_, std::move(fed),
        [handlers = handlers_, job](std::uint64_t bytes, bool is_closed) {
          if (handlers->on_input_taken) handlers->on_input_taken({job, bytes, is_closed});
        });
  }
  children_[job] = child;
  child->pause_output(paused_);
  watch(job, child);
}

void Processes::watch(JobId job, const std::shared_ptr<Child>& child) {
  child->ended.async_wait(asio::posix::descriptor_base::wait_read,
                          [this, handlers = handlers_, job](const std::error_code& error) {
                            if (!error && handlers->on_ended) on_exit(job);
                          });
  child->loading.expires_after(loading_max_);
  child->loading.async_wait([this, handlers = handlers_, job](const std::error_code& error) {
    if (!error && handlers->on_ended) on_loading_max(job);
  });
}

void Processes::on_exit(JobId job) {
  const auto found = children_.find(job);
  if (found == children_.end()) return;
  const std::shared_ptr<Child> child = found->second;
  child->kill(SIGKILL);  // what it started and left behind
  child->finish_output();
  if (child->input) child->input->close();
  child->loading.cancel();
  child->escalation.cancel();
  runtime::Exit exit = wait_for(child->process);
  const bool has_run = child->is_loading() || child->exec_result == 0;
  if (!has_run) exit = never_ran(explain(child->request, *child->exec_result));
  if (exit.signal == SIGKILL) exit.detail = memory_kill_hint(child->memory_kills_before);
  children_.erase(job);
  if (!child->is_given_up) handlers_->on_ended(job, exit);
}

/// If the program is still not loaded: its end is reported without waiting for it, because the kill
/// may take as long as the file server.
void Processes::on_loading_max(JobId job) {
  const auto found = children_.find(job);
  if (found == children_.end()) return;
  const std::shared_ptr<Child> child = found->second;
  if (!child->is_loading()) return;
  child->kill(SIGKILL);
  child->finish_output();
  child->is_given_up = true;
  handlers_->on_ended(job, never_ran(explain_limit(child->request, loading_max_)));
}

void Processes::report_failure(JobId job, int code, std::string why) {
  asio::post(executor_, [handlers = handlers_, job, code, why = std::move(why)] {
    runtime::Exit exit;
    exit.code = code;
    exit.detail = why;
    if (handlers->on_ended) handlers->on_ended(job, exit);
  });
}

void Processes::signal(JobId job, int signal, Duration escalate_after) {
  const auto found = children_.find(job);
  if (found == children_.end()) return;
  const std::shared_ptr<Child>& child = found->second;
  child->kill(signal);
  if (escalate_after == kForever) return;
  child->escalation.expires_after(escalate_after);
  child->escalation.async_wait(
      [this, handlers = handlers_, job, process = child->process](const std::error_code& error) {
        if (error || !handlers->on_ended) return;  // moved, or everything is over
        const auto still = children_.find(job);
        const bool runs = still != children_.end() && still->second->process == process;
        if (runs) still->second->kill(SIGKILL);
      });
}

void Processes::feed(const runtime::FeedProcess& input) {
  const auto found = children_.find(input.job);
  if (found == children_.end() || !found->second->input) return;
  found->second->input->put(input.offset, input.bytes, input.is_end);
}

void Processes::pause_output(bool paused) {
  if (paused_ == paused) return;
  paused_ = paused;
  for (const auto& [job, child] : children_) {
    child->pause_output(paused || child->is_held);
  }
}

void Processes::pause_output(JobId job, bool paused) {
  const auto found = children_.find(job);
  if (found == children_.end()) return;
  found->second->is_held = paused;
  found->second->pause_output(paused || paused_);
}

}  // namespace phx::tcp
