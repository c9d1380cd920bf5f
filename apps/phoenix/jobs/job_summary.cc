#include "apps/phoenix/jobs/job_summary.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"

namespace phx::app {

using runtime::JobStatus;
using runtime::ProcessorStatus;
using runtime::Stage;
using runtime::StatusReply;

namespace {

/// Where others wait, this process has vnodes and does not.
bool is_missing(const JobStatus& job) {
  const bool computes =
      job.stage == Stage::kAttached && job.process_waits.empty() && !job.is_held_up;
  return (computes || is_done(job)) && !job.held.empty();
}

/// A call of the process waits, and others may have to do something for it.
bool is_in_call(const JobStatus& job) {
  return job.stage == Stage::kAttached && !job.process_waits.empty() && !job.held.empty();
}

constexpr std::size_t kNamed = 3;

/// "; missing: p1 (v0-1), computing for 12 s; p3 does not answer"; or empty.
std::string missing(const StatusReply& reply, JobId id) {
  std::size_t count = 0;
  std::string text;
  for (const ProcessorStatus& processor : reply.processors) {
    for (const JobStatus& job : processor.jobs) {
      if (job.job != id || !is_missing(job) || ++count > kNamed) continue;
      text += (count == 1 ? "; missing: " : "; ") + to_string(processor.id) + " (v" +
              to_string(job.held) + ")";
      const std::uint64_t silent_s = job.figures.silent_ms / 1000;
      if (is_done(job)) text += ", which has finished";
      if (!is_done(job) && silent_s > 0) {
        text += ", computing for " + std::to_string(silent_s) + " s";
      } else if (!is_done(job) && !job.waiting.empty()) {
        text += ", whose daemon waits for " + job.waiting;
      }
    }
  }
  if (count > kNamed) text += "; and " + std::to_string(count - kNamed) + " more";
  // Nobody knows what they have.
  for (std::size_t i = 0; i < std::min(reply.silent.size(), kNamed); ++i) {
    text += "; " + to_string(reply.silent[i]) + " does not answer";
  }
  return text;
}

/// "p2 waits for barrier, and so does 1 more; p4 waits for recv by v3 from v0; nobody computes"; or
/// "p2 waits for barrier; missing: ..."; empty: no call waits.
std::string calls_that_wait(const StatusReply& reply, JobId id) {
  std::vector<std::pair<std::string, std::vector<ProcessorId>>> calls;
  std::uint64_t vnodes_in_calls = 0;
  std::uint64_t vnodes = 0;
  for (const ProcessorStatus& processor : reply.processors) {
    for (const JobStatus& job : processor.jobs) {
      if (job.job != id) continue;
      vnodes = job.vnodes;
      if (!is_in_call(job)) continue;
      vnodes_in_calls += job.held.size();
      const auto found = std::ranges::find_if(
          calls, [&](const auto& call) { return call.first == job.process_waits; });
      if (found == calls.end()) {
        calls.emplace_back(job.process_waits, std::vector{processor.id});
      } else {
        found->second.push_back(processor.id);
      }
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(calls.size(), kNamed); ++i) {
    const auto& [what, who] = calls[i];
    const std::size_t more = who.size() - 1;
    text += (i == 0 ? "" : "; ") + to_string(who.front()) + " waits for " + what;
    const std::string so = more == 1 ? ", and so does " : ", and so do ";
    if (more > 0) text += so + std::to_string(more) + " more";
  }
  if (calls.size() > kNamed) {
    const std::size_t more = calls.size() - kNamed;
    text += "; " + counted(more, "more call") + (more == 1 ? " waits" : " wait");
  }
  if (calls.size() > 1 && vnodes_in_calls == vnodes) text += "; nobody computes";
  return calls.empty() ? text : text + missing(reply, id);
}

/// What a daemon waits for itself. What holds a process up first: others may wait because of that.
std::string daemon_that_waits(const StatusReply& reply, JobId id) {
  std::string text;
  for (const ProcessorStatus& processor : reply.processors) {
    for (const JobStatus& job : processor.jobs) {
      if (job.job != id || job.waiting.empty() || (!text.empty() && !job.is_held_up)) continue;
      text = to_string(processor.id) + " waits for " + job.waiting;
      if (job.is_held_up) return text;
    }
  }
  return text;
}

/// What all processors have counted of the vnodes of a job.
std::vector<runtime::VnodeFigures> vnodes_of(const StatusReply& reply, JobId id) {
  std::map<VnodeId, runtime::VnodeFigures> sums;
  for (const ProcessorStatus& processor : reply.processors) {
    for (const JobStatus& job : processor.jobs) {
      if (job.job != id) continue;
      for (const runtime::VnodeFigures& one : job.vnode_figures) {
        runtime::VnodeFigures& sum = sums[one.vnode];
        sum.vnode = one.vnode;
        sum.messages += one.messages;
        sum.bytes += one.bytes;
        sum.moves += one.moves;
        sum.waited_ms += one.waited_ms;
      }
    }
  }
  std::vector<runtime::VnodeFigures> result;
  for (const auto& [vnode, sum] : sums) result.push_back(sum);
  return result;
}

/// Of a daemon, or of its process, or of both; "-": nothing.
std::string awaited_by(const JobStatus& job) {
  if (job.process_waits.empty()) return job.waiting.empty() ? "-" : job.waiting;
  return (job.waiting.empty() ? "" : job.waiting + "; its process: ") + job.process_waits;
}

std::string holder_of(const StatusReply& reply, JobId id, VnodeId vnode) {
  for (const ProcessorStatus& processor : reply.processors) {
    for (const JobStatus& job : processor.jobs) {
      if (job.job == id && job.held.contains(vnode)) return to_string(processor.id);
    }
  }
  return "-";
}

/// Those that waited longest, or sent most if they did not wait. Empty: none has done anything.
std::string vnode_table(const StatusReply& reply, JobId id, std::uint64_t vnodes) {
  constexpr std::size_t kShown = 16;
  auto figures = vnodes_of(reply, id);
  if (figures.empty()) return {};
  std::string above = "\n";
  if (figures.size() > kShown) {
    std::ranges::stable_sort(figures, [](const auto& one, const auto& other) {
      return std::tie(one.waited_ms, one.bytes) > std::tie(other.waited_ms, other.bytes);
    });
    figures.resize(kShown);
    above += std::to_string(kShown) + " of " + std::to_string(vnodes) +
             " vnodes, those that waited longest (all: --json)\n";
  }
  Table table({"VNODE", "AT", "SENT", "BYTES", "MOVED", "WAITED"});
  for (const auto& [vnode, messages, bytes, moves, waited_ms] : figures) {
    table.add({to_string(vnode), holder_of(reply, id, vnode), std::to_string(messages),
               spell_bytes(bytes), std::to_string(moves),
               spell_seconds(static_cast<double>(waited_ms) / 1000)});
  }
  return above + table.text();
}

}  // namespace

bool is_done(const JobStatus& job) {
  return job.stage == Stage::kFinished || job.stage == Stage::kExited;
}

const char* name_of(Stage stage) {
  switch (stage) {
    case Stage::kNone:
      return "none";
    case Stage::kStarting:
      return "starting";
    case Stage::kAttached:
      return "running";
    case Stage::kFinished:
      return "finished";
    case Stage::kExited:
      return "exited";
  }
  return "?";
}

std::map<JobId, JobSummary> summarise(const StatusReply& reply) {
  std::map<JobId, JobSummary> jobs;
  for (const ProcessorStatus& processor : reply.processors) {
    for (const JobStatus& job : processor.jobs) {
      JobSummary& summary = jobs[job.job];
      summary.name = job.name;
      summary.home = job.home;
      summary.vnodes = job.vnodes;
      summary.held += job.held.size();
      if (job.stage == Stage::kAttached || job.stage == Stage::kFinished) ++summary.running;
    }
  }
  for (auto& [id, summary] : jobs) {
    const std::string calls = calls_that_wait(reply, id);
    summary.waiting = daemon_that_waits(reply, id);
    summary.waiting += (summary.waiting.empty() || calls.empty() ? "" : "; ") + calls;
  }
  return jobs;
}

std::string job_table(const StatusReply& reply) {
  const auto jobs = summarise(reply);
  if (jobs.empty()) return "no jobs\n";
  Table table({"JOB", "NAME", "VNODES", "PROCESSES", "HOME", "WAITING"});
  for (const auto& [id, job] : jobs) {
    table.add({to_string(id), job.name, std::to_string(job.vnodes), std::to_string(job.running),
               to_string(job.home), job.waiting.empty() ? "-" : job.waiting});
  }
  return table.text();
}

std::string job_details(const StatusReply& reply, JobId id) {
  const auto jobs = summarise(reply);
  const auto found = jobs.find(id);
  if (found == jobs.end()) return {};
  Table table({"PROCESSOR", "STATE", "VNODES", "SENT", "BYTES", "MOVED HERE", "WAITED", "WAITING"});
  for (const ProcessorStatus& processor : reply.processors) {
    for (const JobStatus& job : processor.jobs) {
      if (job.job != id) continue;
      const auto& figures = job.figures;
      table.add({to_string(processor.id), name_of(job.stage),
                 job.held.empty() ? "-" : to_string(job.held), std::to_string(figures.messages),
                 spell_bytes(figures.bytes), std::to_string(figures.moves),
                 spell_seconds(static_cast<double>(figures.waited_ms) / 1000), awaited_by(job)});
    }
  }
  for (const ProcessorId silent : reply.silent) {
    table.add({to_string(silent), "silent", "-", "-", "-", "-", "-", "-"});
  }
  const JobSummary& job = found->second;
  const std::string waiting = job.waiting.empty() ? "" : "\n" + job.waiting + "\n";
  return to_string(id) + ": " + job.name + ", " + std::to_string(job.vnodes) +
         " vnodes, looked after by " + to_string(job.home) + "\n\n" + table.text() +
         vnode_table(reply, id, job.vnodes) + waiting;
}

}  // namespace phx::app
