#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/launch.h"
#include "apps/phoenix/mesh/mesh_dir.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/mesh/start.h"
#include "apps/phoenix/mesh/starters.h"
#include "apps/phoenix/mesh/verbs.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/key.h"

namespace phx::app {
namespace {

constexpr std::size_t kSeedsMax = 8;

/// What `phoenix up` and `phoenix add` have in common.
struct StartOptions {
  std::string mesh = "default";
  std::uint32_t local = 0;
  std::string hosts_file;
  std::vector<std::string> hosts;
  LaunchOptions launch;
  bool json = false;
  std::string also{};  ///< How else one can say where.
};

/// Processors of this machine that this program may use.
std::uint32_t processors_here() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<std::uint32_t>(CPU_COUNT(&set));
}

void add_start_options(const options::Parser& verb, StartOptions& options) {
  add_mesh_option(verb, options.mesh);
  const auto all = options::Check::transform([](std::string& text) {
    if (text == "all") text = std::to_string(processors_here());
    return std::string();
  });
  verb.add_option("--local", options.local,
                  "Start this many daemons on this machine; all: one for each of its processors")
      .check(all)
      .check(options::range(1U, kLocalMost));
  verb.add_option("--hosts", options.hosts_file,
                  "Start one daemon per line of this file: HOST[:N] [slots=N] [listen=ADDRESS]");
  verb.add_option("--remote-shell", options.launch.remote_shell,
                  std::string("Command that runs a command on another machine (default: ") + kSsh +
                      "; this one needs none)");
  verb.add_option("--remote-daemon", options.launch.remote_daemon,
                  "Path of phoenixd on the other machines (default: as here)");
  verb.add_option("--daemon-option", options.launch.daemon_options,
                  "An option to pass on to every daemon, e.g. --daemon-option=--peer-timeout=10");
  verb.add_flag(
      "--bind", options.launch.binds,
      "Each daemon, and what it starts, runs on processors of its own: with 8 of them and\n"
      "4 daemons (--local 4, slots=4) on two each; with more daemons on one, in turn");
  verb.add_flag("-q,--quiet", options.launch.quiet, "Say nothing if all is well");
  verb.add_flag("--json", options.json, "Machine-readable result");
}

/// `running`: daemons of this machine that are there already.
Result<std::vector<Place>> places_of(const StartOptions& options, std::uint32_t running) {
  std::vector<Place> places(options.local);
  const std::uint32_t all = running + options.local;
  for (std::uint32_t slot = running; Place & place : places) {
    place.slot = slot++;
    place.slots = all;
  }
  for (const std::string& host : options.hosts) places.push_back({.host = host, .listen = {}});
  if (!options.hosts_file.empty()) {
    auto more = read_hosts(options.hosts_file);
    if (!more.ok()) return more;
    places.insert(places.end(), more.value().begin(), more.value().end());
  }
  if (places.empty()) {
    return Error{ErrorCode::kBadInput, "say where: --local N, " + options.also + "or --hosts FILE"};
  }
  for (const Place& place : places) {
    if (!place.host.starts_with('-')) continue;
    // The remote shell would take it for an option.
    return Error{ErrorCode::kBadInput, "'" + place.host + "' is no name of a machine"};
  }
  return places;
}

int report(const StartOptions& options, const std::vector<Launched>& members, const char* what) {
  if (options.json) {
    std::string list;
    for (const Launched& one : members) {
      list += (list.empty() ? "" : ",") +
              ("{\"id\":" + std::to_string(one.id) + ",\"endpoint\":\"" + one.endpoint + "\"}");
    }
    std::printf("{\"mesh\":\"%s\",\"processors\":[%s]}\n", options.mesh.c_str(), list.c_str());
    return kOk;
  }
  if (options.launch.quiet) return kOk;
  std::printf("%s %zu processor%s:", what, members.size(), members.size() == 1 ? "" : "s");
  for (const Launched& one : members) std::printf(" p%u", one.id);
  std::printf("\n");
  return kOk;
}

int fail_to_start(const Error& error) {
  return fail(error.what, error.code == ErrorCode::kAborted ? kInterrupted : kFailed);
}

int up(const StartOptions& options) {
  if (MeshDir::is_private(options.mesh)) {
    return fail("'" + options.mesh + "' is a name for the mesh of one job; take another name",
                kUsage);
  }
  const auto places = places_of(options, 0);
  if (!places.ok()) return fail(places.error().what, kUsage);
  const Interrupts interrupts;
  const auto members = start_mesh(options.mesh, places.value(), options.launch);
  if (!members.ok()) return fail_to_start(members.error());
  return report(options, members.value(), "started");
}

/// Why a daemon at one of `places` could not reach those at `seeds`; empty: perhaps it can.
std::string why_unreachable(const std::vector<Place>& places,
                            const std::vector<std::string>& seeds) {
  const auto far = std::ranges::find_if_not(
      places, [](const Place& place) { return is_this_machine(place.host); });
  const bool is_open = std::ranges::any_of(seeds, [](const std::string& seed) {
    return !seed.starts_with("127.") && !seed.starts_with("[::1]");
  });
  if (far == places.end() || is_open || seeds.empty()) return {};
  return far->host + " cannot reach this mesh, which listens on loopback only (" + seeds.front() +
         "); a mesh of several machines is started by phoenix up --hosts FILE, with a line for " +
         "this one";
}

int add(const StartOptions& options) {
  const auto dir = MeshDir::open(options.mesh);
  const std::size_t running = dir.ok() ? dir.value().daemons().size() : 0;
  const auto places = places_of(options, static_cast<std::uint32_t>(running));
  if (!places.ok()) return fail(places.error().what, kUsage);
  auto session = connect(options.mesh);
  if (!session.ok()) return fail(session.error().what);
  const auto status = ask_status(session.value(), /*ask_all=*/false);
  if (!status.ok()) return fail(status.error().what);
  std::vector<std::string> seeds = staying_endpoints(status.value().view, {});
  if (const std::string why = why_unreachable(places.value(), seeds); !why.empty()) {
    return fail(why, kUsage);
  }
  // Some may be drained before the newcomers ask them: often the oldest, all at once.
  if (seeds.size() > kSeedsMax) {
    seeds.erase(seeds.begin() + 1, seeds.end() - static_cast<std::ptrdiff_t>(kSeedsMax - 1));
  }
  session.value().dir.remove_dead();
  const Interrupts interrupts;
  const Starter starter(session.value().dir);
  const auto members = launch(session.value().dir, places.value(), seeds, options.launch);
  if (!members.ok()) return fail_to_start(members.error());
  // Those who were there may all be gone before anybody asks again.
  std::vector<std::string> known = staying_endpoints(status.value().view, {});
  for (const Launched& one : members.value()) known.push_back(one.endpoint);
  session.value().dir.remember_endpoints(known);
  return report(options, members.value(), "added");
}

/// Of two starts at once one is refused. The lock goes with the descriptor.
Result<tcp::Descriptor> lock_start(const MeshDir& dir) {
  tcp::Descriptor folder(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A file system without locks does without.
  const bool is_taken =
      folder.is_open() && ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!is_taken) return folder;
  return Error{ErrorCode::kBusy, "mesh '" + dir.name() +
                                     "' is just being started by another phoenix up; "
                                     "--mesh NAME starts another mesh"};
}

/// What is told of a mesh that did not start as a whole, after what is of no use has been ended.
Error give_up(const MeshDir& dir, Error error, bool is_new) {
  const bool is_interrupted = error.code == ErrorCode::kAborted;
  // Those on other machines have no file here, but launch() has remembered them.
  const bool is_empty = dir.daemons().empty() && dir.known_endpoints().empty();
  // Nobody wants half a mesh of one job, nor a key without a mesh.
  const bool is_wanted =
      !is_interrupted && !MeshDir::is_private(dir.name()) && !(is_new && is_empty);
  if (is_wanted) {
    if (!is_empty) error.what += "; these run: phoenix add starts others, phoenix down ends them";
    return error;
  }
  const Status ended = end_mesh(dir.name());
  if (is_interrupted && !ended.ok()) return ended.error();
  if (is_interrupted) {
    error.what = "interrupted, by a signal or phoenix down; what had started is ended";
  } else if (!ended.ok()) {
    error.what += "; " + ended.error().what;
  }
  return error;
}

}  // namespace

Result<std::vector<Launched>> start_mesh(const std::string& name, const std::vector<Place>& places,
                                         const LaunchOptions& options) {
  const auto dir = MeshDir::make(name);
  if (!dir.ok()) return dir.error();
  const auto lock = lock_start(dir.value());
  if (!lock.ok()) return lock.error();
  const Starter starter(dir.value());
  const bool is_new = !dir.value().has_key();
  if (!is_new) {
    auto running = connect(name);
    if (running.ok()) {
      return Error{ErrorCode::kBusy, "mesh '" + name +
                                         "' runs already: phoenix add starts more processors, "
                                         "phoenix down ends it, --mesh NAME starts another"};
    }
    // One of another release, or that could not be reached just now, would be forgotten.
    const bool is_there = may_be_there(running.error(), dir.value());
    if (is_there || !dir.value().daemons().empty()) return running.error();
    dir.value().remove_dead();
    dir.value().renew_stamp();  // Its first job is j1 again.
  } else {
    const Status key = dir.value().make_key();
    if (!key.ok()) {
      if (!dir.value().has_key()) dir.value().remove();  // Else somebody else has just made it.
      return key.error();
    }
  }
  auto members = launch(dir.value(), places, {}, options);
  if (!members.ok()) return give_up(dir.value(), members.error(), is_new);
  std::vector<std::string> endpoints;
  for (const Launched& one : members.value()) endpoints.push_back(one.endpoint);
  dir.value().remember_endpoints(endpoints);
  return members;
}

void add_up(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<StartOptions>();
  const options::Parser verb = tool.add_subcommand("up", "Start a mesh of daemons");
  add_start_options(verb, *options);
  verb.footer("Examples:\n  phoenix up --local 4\n  phoenix up --hosts machines.txt");
  verb.callback([options, &chosen] { chosen = [options] { return up(*options); }; });
}

void add_add(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<StartOptions>();
  const options::Parser verb = tool.add_subcommand("add", "Add processors to a running mesh");
  add_start_options(verb, *options);
  options->also = "HOST ..., ";
  verb.add_option("HOST", options->hosts, "Machines to start a daemon on");
  verb.footer(
      "Running jobs spread to the new processors by themselves.\n"
      "Interrupted, it takes back those that are still being started; those that it names are\n"
      "members, and phoenix drain takes them out again.");
  verb.callback([options, &chosen] { chosen = [options] { return add(*options); }; });
}

}  // namespace phx::app
