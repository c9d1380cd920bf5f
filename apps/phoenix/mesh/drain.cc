#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/mesh/verbs.h"
#include "apps/phoenix/mesh/waiting.h"
#include "apps/phoenix/texts/amounts.h"
#include "runtime/tcp/steady_now.h"

namespace phx::app {
namespace {

struct DrainOptions {
  std::string mesh = "default";
  std::vector<std::string> names;
  double timeout_s = 0;
  bool quiet = false;
  bool json = false;
};

/// One line per processor that is not gone yet: what it still has, and what it waits for.
std::string describe(const runtime::DrainProgress& progress) {
  std::string text;
  for (const auto& one : progress.processors) {
    if (one.gone) continue;
    text += (text.empty() ? "" : "; ") + to_string(one.id) + ": " +
            (one.vnodes_left ? counted(*one.vnodes_left, "vnode") + " left" : "no answer yet");
    if (!one.waiting.empty()) text += ", waits for " + one.waiting;
  }
  return text;
}

std::string names_of(const std::vector<ProcessorId>& processors) {
  std::string names;
  for (const ProcessorId processor : processors) {
    names += (names.empty() ? "" : " ") + to_string(processor);
  }
  return names;
}

/// Those that did not leave, but died; empty: none.
std::string describe_dead(const runtime::DrainProgress& progress) {
  std::string text;
  for (const auto& one : progress.processors) {
    if (one.lost.empty()) continue;
    text += (text.empty() ? "" : "; ") + to_string(one.id) + " is gone without having left (" +
            one.lost + ")";
  }
  return text.empty() ? "" : text + "; jobs that had something there have ended";
}

/// Waits for the ends of those processes that run here, so that whoever asks the mesh next does not
/// meet one of them.
void await_processes(const MeshDir& dir, const std::vector<ProcessorId>& processors) {
  const auto runs = [&](const MeshDir::Daemon& daemon) {
    return std::any_of(processors.begin(), processors.end(),
                       [&](ProcessorId p) { return p.value == daemon.id; });
  };
  constexpr Duration kPatience = 5s;
  Waiting waiting(kPatience);
  const Instant deadline = tcp::steady_now() + kPatience;
  while (tcp::steady_now() < deadline) {
    const auto daemons = dir.daemons();
    const auto one = std::find_if(daemons.begin(), daemons.end(), runs);
    if (one == daemons.end()) return;
    waiting.look(in_words(*one) + ", which has left the mesh, to end");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

struct Job {
  std::string name;
  std::string ends_because;  ///< As of runtime::JobStatus.
};
using Jobs = std::map<JobId, Job>;

Jobs jobs_in(const runtime::StatusReply& status) {
  Jobs jobs;
  for (const auto& processor : status.processors) {
    for (const auto& job : processor.jobs) jobs[job.job] = {job.name, job.ends_because};
  }
  return jobs;
}

/// Why a job that is gone has ended; empty: well, or nobody knows.
std::string end_of(const std::string& mesh, JobId job) {
  auto session = connect(mesh);  // the answer closes the connection
  if (!session.ok()) return {};
  const runtime::FollowRequest request{.job = job, .shown = {}, .is_guest = true};
  const auto end = ask<runtime::RunEnded>(session.value(), request, 5s);
  return end.ok() ? end.value().reason : "";
}

/// Jobs that went on before and have failed since, but for "phoenix kill": one sentence; empty:
/// none.
std::string describe_failed(const std::string& mesh, const Jobs& before) {
  std::string text;
  if (before.empty()) return text;
  auto session = connect(mesh);
  if (!session.ok()) return text;
  const auto status = ask_status(session.value(), /*ask_all=*/false);
  if (!status.ok()) return text;
  const Jobs now = jobs_in(status.value());
  for (const auto& [id, job] : before) {
    if (!job.ends_because.empty()) continue;
    const auto at = now.find(id);
    const std::string why = at != now.end() ? at->second.ends_because : end_of(mesh, id);
    if (why.empty() || why == "ended by request") continue;
    text += (text.empty() ? "" : "; ") + to_string(id) + " (" + job.name +
            ") has failed meanwhile: " + why;
  }
  return text;
}

/// What is drained, and what ran when that began.
struct Drained {
  std::vector<ProcessorId> processors;
  Jobs jobs;
  std::string unwatched;  ///< Why nobody says when it is over; empty: somebody does.
};

/// Asks the mesh to drain. The names are looked up once, as who has left cannot be found any more:
/// `drained` is filled if it is empty.
Result<Session> begin_drain(const DrainOptions& options, Drained& drained) {
  std::vector<ProcessorId>& processors = drained.processors;
  auto session = connect(options.mesh);
  if (!session.ok()) return session.error();
  const auto status = ask_status(session.value(), /*ask_all=*/false);
  if (!status.ok()) return status.error();
  if (processors.empty()) {
    auto found = find_processors(status.value().view, options.names, options.mesh);
    if (!found.ok()) return found.error();
    processors = std::move(found).value();
    drained.jobs = jobs_in(status.value());
  }
  // Speak through one that stays, so that the connection outlives the drain.
  const auto staying = staying_endpoints(status.value().view, processors);
  if (staying.empty()) {
    return Error{ErrorCode::kBadInput,
                 "that would leave no processor; to end the mesh, use phoenix down"};
  }
  auto lasting = connect_to_staying(options.mesh, processors);
  // Whoever answered can order it all the same.
  const bool is_cut_off = !lasting.ok() && lasting.error().code == ErrorCode::kTimeout;
  if (!lasting.ok() && !is_cut_off) return lasting.error();
  if (lasting.ok()) session = std::move(lasting);
  const Status sent = session.value().client.send(runtime::DrainRequest{processors});
  if (!sent.ok()) return sent.error();
  drained.unwatched = is_cut_off ? lasting.error().what : "";
  return session;
}

/// A daemon that is asked may be leaving just now: then another one knows.
Result<Session> begin_patiently(const DrainOptions& options, Drained& drained) {
  constexpr int kRetries = 3;
  auto session = begin_drain(options, drained);
  for (int i = 0; i < kRetries && !session.ok(); ++i) {
    const ErrorCode code = session.error().code;
    if (code == ErrorCode::kBadInput || code == ErrorCode::kNotFound) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    session = begin_drain(options, drained);
  }
  return session;
}

/// Follows one drain, and tells a person how far it is.
class Watch {
 public:
  explicit Watch(const DrainOptions& options)
      : timeout_s_(options.timeout_s), quiet_(options.quiet) {}

  /// True: all have left; an error: the drain is refused, or it takes too long.
  Result<bool> take(const runtime::ClientReply& reply) {
    if (const auto* done = std::get_if<runtime::Done>(&reply)) {
      return Error{ErrorCode::kUnavailable, done->error};
    }
    const auto* progress = std::get_if<runtime::DrainProgress>(&reply);
    if (progress == nullptr) return false;
    const std::string left = describe(*progress);
    const std::string dead = left.empty() ? describe_dead(*progress) : "";
    if (!dead.empty()) return Error{ErrorCode::kUnavailable, dead};
    if (left.empty()) return true;
    const Instant now = tcp::steady_now();
    if (timeout_s_ > 0 && now - begin_ > std::chrono::duration<double>(timeout_s_)) {
      return Error{ErrorCode::kTimeout, "not gone in time, the drain goes on: " + left};
    }
    if (!quiet_ && now - told_ > 2s) {
      std::fprintf(stderr, "%s%s%s", talks_ ? "\r\033[K" : "", left.c_str(), talks_ ? "" : "\n");
      told_ = now;
    }
    return false;
  }
  /// How long it has taken until now.
  [[nodiscard]] double took_s() const {
    return std::chrono::duration<double>(tcp::steady_now() - begin_).count();
  }
  /// What clears the line of a terminal that it has written.
  [[nodiscard]] const char* clearing() const { return talks_ && told_ != begin_ ? "\r\033[K" : ""; }

 private:
  double timeout_s_;
  bool quiet_;
  bool talks_ = ::isatty(2) != 0;
  Instant begin_ = tcp::steady_now();
  Instant told_ = begin_;
};

void report(const DrainOptions& options, const std::vector<ProcessorId>& processors,
            const Watch& watch) {
  if (options.json) {
    std::string ids;
    for (const ProcessorId p : processors)
      ids += (ids.empty() ? "" : ",") + std::to_string(p.value);
    std::printf("{\"mesh\":\"%s\",\"processors\":[%s],\"seconds\":%.6f}\n", options.mesh.c_str(),
                ids.c_str(), watch.took_s());
  } else if (!options.quiet) {
    std::printf("%sdrained: %s, in %s\n", watch.clearing(), names_of(processors).c_str(),
                spell_short(watch.took_s()).c_str());
  }
}

/// Tells it in a line of its own.
int fail_after(const Watch& watch, const std::string& what, int code = kFailed) {
  std::fputs(watch.clearing(), stderr);
  return fail(what, code);
}

int drain(const DrainOptions& options) {
  Drained drained;
  const std::vector<ProcessorId>& processors = drained.processors;
  auto session = begin_patiently(options, drained);
  if (!session.ok()) return fail(session.error());
  Watch watch(options);
  const Interrupts interrupts;
  for (bool is_over = false; !is_over;) {
    if (Interrupts::count() > 0) {
      return fail_after(watch,
                        "the drain of " + names_of(processors) + " goes on; see phoenix status" +
                            mesh_words(options.mesh),
                        kInterrupted);
    }
    const auto reply = receive(session.value(), 5s);
    if (reply.ok()) {
      const auto taken = watch.take(reply.value());
      if (!taken.ok()) return fail_after(watch, taken.error().what);
      is_over = taken.value();
    } else if (!drained.unwatched.empty()) {
      return fail_after(
          watch,
          "the drain of " + names_of(processors) +
              " has begun, but those that stay cannot be asked from here whether it is over: " +
              drained.unwatched);
    } else {  // Another one knows, also if all have left.
      auto again = begin_patiently(options, drained);
      if (!again.ok()) return fail_after(watch, again.error().what);
      session = std::move(again);
    }
  }
  await_processes(session.value().dir, processors);
  report(options, processors, watch);
  const std::string failed = describe_failed(options.mesh, drained.jobs);
  return failed.empty() ? kOk : fail_after(watch, failed);
}

}  // namespace

void add_drain(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<DrainOptions>();
  const options::Parser verb = tool.add_subcommand(
      "drain", "Take processors out of a mesh without losing anything of the running jobs");
  verb.add_option("PROCESSOR", options->names, "Processors (p3 or 3) or machines, see status")
      .required();
  add_mesh_option(verb, options->mesh);
  verb.add_option("--timeout", options->timeout_s, "Give up watching after so many seconds")
      .check(options::non_negative_number());
  verb.add_flag("-q,--quiet", options->quiet, "Say nothing if all is well");
  verb.add_flag("--json", options->json, "Machine-readable result");
  verb.footer(
      "The vnodes go to the processors that stay; the daemons end when nothing needs them any "
      "more.\n"
      "Ctrl-C ends the watching only: the drain goes on.\n"
      "Ends with 1 if a processor dies before it has left, or if a job fails meanwhile.");
  verb.callback([options, &chosen] { chosen = [options] { return drain(*options); }; });
}

}  // namespace phx::app
