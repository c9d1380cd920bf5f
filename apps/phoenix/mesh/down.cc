#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "apps/phoenix/mesh/job_record.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/mesh/start.h"
#include "apps/phoenix/mesh/starters.h"
#include "apps/phoenix/mesh/verbs.h"
#include "apps/phoenix/mesh/waiting.h"
#include "overlay/base/signal_name.h"
#include "runtime/tcp/kept_logs.h"
#include "runtime/tcp/mesh_folder.h"
#include "runtime/tcp/steady_now.h"

namespace phx::app {
namespace {

constexpr Duration kDownTimeout = 10s;

struct KillOptions {
  std::string mesh = "default";
  std::string job;
  std::string signal;
};

using Unconfirmed = std::vector<runtime::Done::Unconfirmed>;

/// What came of the order to end.
struct Asked {
  bool is_taken = false;  ///< By a daemon, which has told the others.
  Unconfirmed unconfirmed = {};
};

/// It gets no signal from here.
bool is_elsewhere(const MeshDir::Daemon& daemon) {
  return daemon.process == tcp::kUnnamed;
}

/// Those of this machine that may know nothing of the order: a signal needs no network.
void order_by_signal(const MeshDir& dir, const Asked& asked) {
  for (const auto& daemon : dir.daemons()) {
    const bool has_it =
        asked.is_taken && std::ranges::none_of(asked.unconfirmed, [&](const auto& one) {
          return one.id.value == daemon.id;
        });
    if (has_it || is_elsewhere(daemon)) continue;
    std::fprintf(stderr, "phoenix: %s %s: told to end by SIGTERM\n", in_words(daemon).c_str(),
                 asked.is_taken ? "has not confirmed the order to end" : "could not be reached");
    tcp::signal_holder_of(daemon.state_file, SIGTERM);
  }
}

/// Waits until no daemon of this machine is left that has been told to end; those that do not end
/// by themselves are killed, where they can be.
void wait_for_end(const MeshDir& dir, const Asked& asked) {
  const auto those_left = [&] {
    auto left = dir.daemons();
    // Nobody has told these.
    if (!asked.is_taken) std::erase_if(left, [](const auto& one) { return is_elsewhere(one); });
    return left;
  };
  Waiting waiting(kDownTimeout, "kills it");
  const Instant deadline = tcp::steady_now() + kDownTimeout;
  for (auto left = those_left(); !left.empty() && tcp::steady_now() < deadline;
       left = those_left()) {
    waiting.look(in_words(left.front()) + " to end");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (const auto& daemon : dir.daemons()) {
    if (is_elsewhere(daemon)) continue;
    std::fprintf(stderr, "phoenix: %s did not end by itself within 10 s: killed\n",
                 in_words(daemon).c_str());
    static_assert(kDownTimeout == 10s);
    tcp::signal_holder_of(daemon.state_file, SIGKILL);
  }
}

Error nobody_named(const std::string& name, const MeshDir& dir) {
  return {ErrorCode::kTimeout, (dir.path() / "mesh.json").string() +
                                   " names no daemon, so there may be some on other machines; if "
                                   "they are gone for good: phoenix down" +
                                   mesh_words(name) + " --forget"};
}

/// One daemon tells all others, and says who has not confirmed it. One that has as many tools as it
/// takes, or is just leaving, leaves it to the next one. The connection is closed when this
/// returns. kTimeout: there may be daemons that do not answer.
Result<Asked> ask_to_end(const std::string& name, const MeshDir& dir) {
  constexpr int kTries = 3;
  constexpr Duration kPatience = 15s;  // It waits for the others for 9 s at most.
  const bool had_key = dir.has_key();
  Choice choice;
  std::optional<Error> refusal;
  for (int i = 0; i < kTries; ++i) {
    auto session = connect(name, choice);
    if (!session.ok()) {
      // A mesh of which all refuse is gone, and so are daemons of this machine that do not answer.
      const bool is_there = may_be_there(session.error(), dir);
      if (had_key && !dir.has_key()) return Asked{.is_taken = true};  // Another tool was faster.
      if (is_there || !had_key) return session.error();
      if (refusal) return *refusal;
      if (dir.has_lost_endpoints()) return nobody_named(name, dir);
      return Asked{};
    }
    auto done = ask<runtime::Done>(session.value(), runtime::DownRequest{}, kPatience);
    if (done.ok() && done.value().error.empty()) {
      return Asked{.is_taken = true, .unconfirmed = std::move(done.value().unconfirmed)};
    }
    if (done.ok()) refusal = Error{ErrorCode::kBusy, done.value().error};
    if (!done.ok() && done.error().code == ErrorCode::kTimeout) return done.error();
    choice.last.push_back(session.value().client.daemon());
  }
  return refusal.value_or(Error{ErrorCode::kUnavailable, "no daemon has taken the order to end"});
}

Error not_confirmed(const std::string& name, const Unconfirmed& by) {
  std::string text;
  for (const auto& [id, endpoint] : by) {
    text +=
        (text.empty() ? "" : ", ") + to_string(id) + (endpoint.empty() ? "" : " at " + endpoint);
  }
  return {ErrorCode::kTimeout, "not confirmed by " + text +
                                   "; all others end. When it can be reached again: phoenix down" +
                                   mesh_words(name) + "; if it is gone for good: phoenix down" +
                                   mesh_words(name) + " --forget"};
}

/// Of daemons that live, and of which nothing is known but that.
Error goes_on_elsewhere(const std::string& name, const std::string& daemons) {
  const std::string down = "phoenix down" + mesh_words(name);
  return {ErrorCode::kUnavailable,
          daemons + " of mesh '" + name +
              "' cannot be ended from here: in another container, not reached or without an "
              "answer, and out of reach of signals. The key stays: call " +
              down + " in that container; if it is to go on without this folder: " + down +
              " --forget"};
}

int kill_job(const KillOptions& options) {
  auto session = connect(options.mesh);
  if (!session.ok()) return fail(session.error().what);
  const int signal = options.signal.empty() ? 0 : signal_number(options.signal);
  if (!options.signal.empty() && signal == 0) {
    return fail("there is no signal '" + options.signal + "'; it would be TERM, SIGTERM or 15",
                kUsage);
  }
  const auto job = find_running_job(options.mesh, options.job);
  if (!job.ok()) return fail(job.error());
  // Goes on with another daemon if this one has no room for tools.
  const auto status = ask_status(session.value(), /*ask_all=*/false);
  if (!status.ok()) return fail(status.error().what);
  const auto done =
      ask<runtime::Done>(session.value(), runtime::SignalRequest{job.value(), signal}, 5s);
  if (!done.ok()) return fail(done.error().what);
  if (!done.value().error.empty()) return fail(done.value().error);
  return kOk;
}

/// Also what is just being started there.
Status end_with_starters(const std::string& name, bool forgets) {
  const auto dir = MeshDir::open(name);
  if (!dir.ok()) return dir.error();
  const bool has_ended_some = end_starters(dir.value());
  // An interrupted `up` takes its mesh down itself.
  return has_ended_some && !dir.value().has_key() ? success() : end_mesh(name, forgets);
}

}  // namespace

Status end_mesh(const std::string& name, bool forgets) {
  auto dir = MeshDir::open(name);
  if (!dir.ok()) return dir.error();
  const auto own = dir.value().daemons();
  auto asked = ask_to_end(name, dir.value());
  const bool is_unknown = !asked.ok() && asked.error().code == ErrorCode::kTimeout;
  if (!asked.ok() && !is_unknown) return asked.error();
  const Asked told = asked.ok() ? asked.value() : Asked{};
  order_by_signal(dir.value(), told);
  wait_for_end(dir.value(), told);
  const std::string left = elsewhere(dir.value().daemons());
  if (!forgets && !left.empty()) return goes_on_elsewhere(name, left);
  if (!forgets && !MeshDir::is_private(name)) {
    if (is_unknown) return asked.error();
    // Those of this machine have ended, if need be by force.
    std::erase_if(asked.value().unconfirmed, [&](const auto& one) {
      return std::ranges::any_of(own,
                                 [&](const auto& daemon) { return daemon.id == one.id.value; });
    });
    if (!asked.value().unconfirmed.empty()) {
      return not_confirmed(name, asked.value().unconfirmed);
    }
  }
  tcp::keep_logs(dir.value().path(), /*is_whole=*/true);
  dir.value().remove();
  return success();
}

void add_kill(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<KillOptions>();
  const options::Parser verb =
      tool.add_subcommand("kill", "End a job, or send a signal to its processes");
  verb.add_option("JOB", options->job, "The job (j2, 2 or its name), see ps").required();
  verb.add_option("-s,--signal", options->signal, "Only send this signal: TERM, or 15");
  add_mesh_option(verb, options->mesh);
  verb.callback([options, &chosen] { chosen = [options] { return kill_job(*options); }; });
}

void add_down(const options::Parser& tool, Action& chosen) {
  struct DownOptions {
    std::string mesh = "default";
    bool is_quiet = false;
    bool forgets = false;
  };
  auto options = std::make_shared<DownOptions>();
  const options::Parser verb =
      tool.add_subcommand("down", "End all jobs and all daemons of a mesh");
  add_mesh_option(verb, options->mesh);
  verb.add_flag("-q,--quiet", options->is_quiet, "Say nothing if all is well");
  verb.add_flag("--forget", options->forgets,
                "Also if some daemons cannot be reached, which may go on: this machine forgets "
                "the mesh and its key");
  verb.callback([options, &chosen] {
    chosen = [options] {
      const Status ended = end_with_starters(options->mesh, options->forgets);
      if (!ended.ok()) return fail(ended.error().what);
      if (!options->is_quiet) std::printf("mesh %s ended\n", options->mesh.c_str());
      return static_cast<int>(kOk);
    };
  });
}

}  // namespace phx::app
