#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/phoenix/jobs/job_summary.h"
#include "apps/phoenix/jobs/verbs.h"
#include "apps/phoenix/mesh/job_record.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"

namespace phx::app {
namespace {

using nlohmann::json;
using runtime::JobStatus;
using runtime::ProcessorStatus;
using runtime::StatusReply;

struct StatusOptions {
  std::string mesh = "default";
  bool json = false;
  bool watch = false;
  bool jobs_only = false;  ///< `phoenix ps`
  std::string job;         ///< This one alone.
};

json figures_as_json(const JobStatus& job) {
  json result = json::array();
  for (const auto& [vnode, messages, bytes, moves, waited_ms] : job.vnode_figures) {
    result.push_back({{"vnode", vnode.value},
                      {"messages", messages},
                      {"bytes", bytes},
                      {"moves", moves},
                      {"waited_ms", waited_ms}});
  }
  return result;
}

json detours_as_json(const ProcessorStatus& status) {
  json result = json::array();
  for (const auto& [peer, via] : status.detours) {
    result.push_back({{"peer", peer.value}, {"via", via.value}});
  }
  return result;
}

json to_json(const std::string& mesh, const StatusReply& reply) {
  json result = {{"mesh", mesh},
                 {"view", reply.view.number},
                 {"coordinator", reply.coordinator.value},
                 {"processors", json::array()},
                 {"silent", json::array()}};
  for (const ProcessorId silent : reply.silent) result["silent"].push_back(silent.value);
  std::map<ProcessorId, const ProcessorStatus*> answers;
  for (const ProcessorStatus& one : reply.processors) answers[one.id] = &one;
  for (const auto& [id, member] : reply.view.members) {
    json processor = {{"id", id.value},
                      {"name", member.name},
                      {"endpoints", member.endpoints},
                      {"leaving", member.leaving},
                      {"emptied", member.emptied},
                      {"jobs", json::array()}};
    const auto answer = answers.find(id);
    if (answer != answers.end()) {
      const ProcessorStatus& status = *answer->second;
      processor["view"] = status.view;
      processor["links"] = status.links;
      processor["trees"] = status.trees;
      processor["leaving_waits_for"] = status.leaving_waits_for;
      processor["detours"] = detours_as_json(status);
      for (const auto& counter : status.counters) {
        processor["counters"][counter.name] = counter.value;
      }
      for (const JobStatus& job : status.jobs) {
        processor["jobs"].push_back({{"job", job.job.value},
                                     {"stage", name_of(job.stage)},
                                     {"held", to_string(job.held)},
                                     {"held_count", job.held.size()},
                                     {"parked", job.parked},
                                     {"messages", job.figures.messages},
                                     {"bytes", job.figures.bytes},
                                     {"moves", job.figures.moves},
                                     {"waited_ms", job.figures.waited_ms},
                                     {"silent_ms", job.figures.silent_ms},
                                     {"waiting", job.waiting},
                                     {"process_waits", job.process_waits},
                                     {"held_up", job.is_held_up},
                                     {"vnodes", figures_as_json(job)}});
      }
    }
    result["processors"].push_back(std::move(processor));
  }
  for (const auto& [id, job] : summarise(reply)) {
    result["jobs"].push_back({{"job", id.value},
                              {"name", job.name},
                              {"home", job.home.value},
                              {"vnodes", job.vnodes},
                              {"held", job.held},
                              {"processes", job.running},
                              {"waiting", job.waiting}});
  }
  if (!result.contains("jobs")) result["jobs"] = json::array();
  return result;
}

/// The vnodes of all jobs that one processor holds.
std::string held_by(const ProcessorStatus& processor) {
  std::string held;
  for (const JobStatus& job : processor.jobs) {
    if (job.held.empty()) continue;
    held += (held.empty() ? "" : " ") + to_string(job.job) + ":" + to_string(job.held);
  }
  return held.empty() ? "-" : held;
}

/// Who reaches whom only through a third one; each pair once.
std::string detour_lines(const StatusReply& reply) {
  std::map<std::pair<ProcessorId, ProcessorId>, ProcessorId> pairs;
  for (const ProcessorStatus& one : reply.processors) {
    for (const auto& [peer, via] : one.detours) pairs[std::minmax(one.id, peer)] = via;
  }
  std::string text;
  for (const auto& [pair, via] : pairs) {
    text += to_string(pair.first) + " and " + to_string(pair.second) + " talk through " +
            to_string(via) + "\n";
  }
  return text.empty() ? text : "\n" + text;
}

/// What leavers wait for, besides their jobs.
std::string leaving_lines(const StatusReply& reply) {
  std::string text;
  for (const ProcessorStatus& one : reply.processors) {
    if (one.leaving_waits_for.empty()) continue;
    text += to_string(one.id) + " leaves, and waits for " + one.leaving_waits_for + "\n";
  }
  return text.empty() ? text : "\n" + text;
}

std::string processor_table(const std::string& mesh, const StatusReply& reply) {
  std::string text = "mesh " + mesh + ": view " + std::to_string(reply.view.number) + ", " +
                     counted(reply.view.members.size(), "processor") + ", coordinator " +
                     to_string(reply.coordinator) + "\n\n";
  std::map<ProcessorId, const ProcessorStatus*> answers;
  for (const ProcessorStatus& one : reply.processors) answers[one.id] = &one;
  Table table({"PROCESSOR", "MACHINE", "ENDPOINT", "STATE", "LINKS", "TREES", "VNODES"});
  for (const auto& [id, member] : reply.view.members) {
    const auto answer = answers.find(id);
    const ProcessorStatus* status = answer == answers.end() ? nullptr : answer->second;
    const char* state = status == nullptr ? "silent" : "up";
    std::vector<std::string> cells = {to_string(id), member.name,
                                      member.endpoints.empty() ? "-" : member.endpoints[0],
                                      member.leaving ? "leaving" : state};
    if (status == nullptr) {
      cells.insert(cells.end(), 3, "-");
    } else {
      cells.insert(cells.end(), {std::to_string(status->links), std::to_string(status->trees),
                                 held_by(*status)});
    }
    table.add(std::move(cells));
  }
  return text + table.text() + detour_lines(reply) + leaving_lines(reply) + "\n" + job_table(reply);
}

/// Nothing: the daemon does not answer.
std::optional<int> show_once(const StatusOptions& options, Session& session) {
  JobId shown{};
  if (!options.job.empty()) {
    const auto job = find_running_job(options.mesh, options.job);
    if (!job.ok()) return fail(job.error());
    shown = job.value();
  }
  const auto reply = ask_status(session, /*ask_all=*/true, shown);
  if (!reply.ok()) {
    if (!options.watch) std::fprintf(stderr, "phoenix: %s\n", reply.error().what.c_str());
    return std::nullopt;
  }
  std::string text;
  if (!options.job.empty()) {
    text = job_details(reply.value(), shown);
    if (text.empty())
      return fail("no job " + to_string(shown) + "; see phoenix ps" + mesh_words(options.mesh));
  }
  if (options.json) {
    // Watched by a program: one line each time.
    // Names of jobs and machines need not be UTF-8.
    const int indent = options.watch ? -1 : 2;
    text = to_json(options.mesh, reply.value())
               .dump(indent, ' ', false, json::error_handler_t::replace) +
           "\n";
  } else if (options.job.empty() && options.jobs_only) {
    text = job_table(reply.value());
  } else if (options.job.empty()) {
    text = processor_table(options.mesh, reply.value());
  }
  const bool clears = options.watch && !options.json && ::isatty(1) != 0;
  std::printf("%s%s", clears ? "\033[H\033[2J" : "", text.c_str());
  std::fflush(stdout);
  return kOk;
}

int show(const StatusOptions& options) {
  while (true) {
    auto session = connect(options.mesh);
    if (!session.ok()) return fail(session.error().what);
    std::optional<int> code = show_once(options, session.value());
    while (options.watch && code == kOk && std::ferror(stdout) == 0) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      code = show_once(options, session.value());
    }
    // While watching, the daemon asked so far may leave: go on with another one.
    if (!options.watch || code) return code.value_or(kFailed);
  }
}

void add_options(const options::Parser& verb, StatusOptions& options) {
  add_mesh_option(verb, options.mesh);
  verb.add_flag("--json", options.json, "Machine-readable, with counters");
}

}  // namespace

void add_status(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<StatusOptions>();
  const options::Parser verb =
      tool.add_subcommand("status", "Show processors, jobs and vnodes of a mesh");
  add_options(verb, *options);
  verb.add_option("JOB", options->job,
                  "Only this job (j2, 2 or its name): what its processes and vnodes have done");
  verb.add_flag("-w,--watch", options->watch,
                "Show it again every second until Ctrl-C; with --json a line each time");
  verb.callback([options, &chosen] { chosen = [options] { return show(*options); }; });
}

void add_ps(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<StatusOptions>();
  options->jobs_only = true;
  const options::Parser verb = tool.add_subcommand("ps", "List the jobs of a mesh");
  add_options(verb, *options);
  verb.callback([options, &chosen] { chosen = [options] { return show(*options); }; });
}

}  // namespace phx::app
