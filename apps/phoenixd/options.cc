#include "apps/phoenixd/options.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "apps/options/option_values.h"
#include "apps/options/parser.h"
#include "apps/phoenix/command_line/manual_page.h"
#include "apps/phoenix/command_line/read_text.h"
#include "apps/phoenixd/keeper_path.h"
#include "overlay/network/placing.h"
#include "overlay/network/topology.h"
#include "overlay/planners/tree_styles.h"
#include "runtime/tcp/key.h"
#include "runtime/tcp/library_path.h"
#include "runtime/tcp/mesh_folder.h"

namespace phx::phoenixd {
namespace {

constexpr double kYear = 366 * 86400.0;  // In seconds.

/// The command line as text and numbers.
struct Arguments {
  std::string mesh_dir;
  std::string key;
  bool new_key = false;
  std::string listen = "127.0.0.1:0";
  std::vector<std::string> advertise;
  std::vector<std::string> join;
  std::string name;
  std::string log_level = "info";
  std::string log_file;
  double heartbeat_period = 1.0;
  double peer_timeout = 5.0;
  double alone_max = 86400;
  double idle_max = 0;
  std::string trees = "learned";
  std::string network;
  std::uint32_t state_receivers = 0;
  std::string bind;
  int ready_fd = -1;
  int lifeline_fd = -1;
  bool detach = false;
  std::string mesh = "default";
};

std::string machine_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "unknown";
}

constexpr const char* kFooter =
    "SIGTERM and the first Ctrl-C drain: what is held here is given away, then the daemon leaves.\n"
    "The second one ends it at once. SIGHUP opens the log file anew; without one it drains if the\n"
    "terminal is closed, and does nothing else.\n\n"
    "Exit codes: 0 left in good order; 2 bad configuration, port taken, key unreadable, not\n"
    "admitted; 3 lost the mesh, or was declared dead by it; 130 interrupted twice.\n\n"
    "A mesh on three machines, the same line and the same key on each:\n"
    "  phoenixd --mesh-dir /run/phoenix --listen 0.0.0.0:7000 \\\n"
    "    --join 10.0.0.1:7000 --join 10.0.0.2:7000 --join 10.0.0.3:7000";

constexpr const char* kAdaptive = "adaptive";

std::vector<std::string> tree_sources() {
  std::vector<std::string> names = {kAdaptive};
  for (const std::string_view style : planners::tree_styles()) names.emplace_back(style);
  return names;
}

/// When a daemon ends that is of no use to anybody any more.
void declare_ends(const options::Parser& app, Arguments& arguments) {
  app.add_option("--alone-max", arguments.alone_max,
                 "seconds after which it ends if it has declared all others dead, no job runs here "
                 "and nobody has joined; 0: never")
      .capture_default_str()
      .check(options::non_negative_number());
  app.add_option("--idle-max", arguments.idle_max,
                 "seconds after which the oldest member takes the mesh down if no job runs and no "
                 "tool asks it; four times that before the first job; 0: never")
      .capture_default_str()
      .check(options::range(0.0, kYear));
}

void declare_trees(const options::Parser& app, Arguments& arguments) {
  app.add_option("--trees", arguments.trees,
                 "learned: drawn over the measured network; adaptive: found by local rules; or the "
                 "planner that draws them (phoenix plan); the same for all daemons of a mesh")
      .capture_default_str()
      .check(options::one_of(tree_sources()));
  app.add_option("--network", arguments.network,
                 "draw trees over the network of this topology file, p1 and so on in the order of "
                 "its sites, and not over what is measured; the same for all daemons of a mesh")
      .type_name("FILE");
}

void declare(const options::Parser& app, Arguments& arguments) {
  const auto positive = options::range(0.01, 1e6);
  app.add_option("--mesh-dir", arguments.mesh_dir,
                 "directory of this mesh on this machine: key, sockets, state")
      .type_name("DIR");
  app.add_option("--mesh", arguments.mesh, "name of the mesh, in the usual directory")
      .capture_default_str();
  app.add_option("--key", arguments.key,
                 "key file of the mesh [DIR/key]; -: read the key from standard input")
      .type_name("FILE");
  app.add_flag("--new-key", arguments.new_key, "make the key file if there is none");
  app.add_option("--listen", arguments.listen, "where to listen; port 0: any free one")
      .capture_default_str()
      .type_name("ADDR:PORT");
  app.add_option("--advertise", arguments.advertise,
                 "where the others reach us, if that is another address; may be repeated")
      .type_name("ADDR[:PORT]");
  app.add_option(
         "--join", arguments.join,
         "members to ask for admission; may be repeated, and be the same on all machines: the "
         "daemon whose own --listen is the first begins the mesh if no other answers. "
         "Without --join a new mesh begins")
      .type_name("ADDR:PORT");
  app.add_option("--name", arguments.name, "name of this machine, for people");
  app.add_option("--log-level", arguments.log_level, "trace, debug, info, warn, error or off")
      .capture_default_str();
  app.add_option("--log-file", arguments.log_file, "append the log to this file [standard error]")
      .type_name("FILE");
  app.add_option("--heartbeat-period", arguments.heartbeat_period,
                 "seconds after which a silent peer is asked")
      .capture_default_str()
      .check(positive);
  app.add_option("--peer-timeout", arguments.peer_timeout,
                 "seconds after which a silent peer is declared dead; a fifth of that if it "
                 "refuses connections")
      .capture_default_str()
      .check(positive);
  declare_ends(app, arguments);
  declare_trees(app, arguments);
  app.add_option("--state-receivers", arguments.state_receivers,
                 "states of vnodes go from here to so many others at once; 0: to all")
      .capture_default_str();
  app.add_option("--bind", arguments.bind,
                 "run, with all that is started here, on part I (from 0) of N of the machine's "
                 "processors")
      .type_name("I/N");
  app.add_option("--ready-fd", arguments.ready_fd,
                 "write \"ID ENDPOINT\" to this descriptor once this is a member");
  app.add_option("--end-with", arguments.lifeline_fd,
                 "take the mesh down, and its folder away, when whoever started this daemon has "
                 "closed the other end of this pipe, or died")
      .type_name("FD");
  app.add_flag("--detach", arguments.detach,
               "print \"ID ENDPOINT\" once this is a member, and go on in the background");
}

Result<tcp::MeshKey> key_of(const Arguments& arguments) {
  if (arguments.key == "-") {
    std::string text;
    std::cin >> text;
    return tcp::parse_key(text);
  }
  Result<tcp::MeshKey> key = tcp::read_key(arguments.key);
  if (key.ok() || key.error().code != ErrorCode::kNotFound) return key;
  if (arguments.new_key) {
    key = tcp::create_key(arguments.key);
    // Another daemon of this machine was faster.
    const bool is_made = !key.ok() && key.error().code == ErrorCode::kBusy;
    return is_made ? tcp::read_key(arguments.key) : key;
  }
  Error error = key.error();
  error.what +=
      "; start the mesh with `phoenix up`, copy the key from one of its machines, or "
      "make a new mesh with --new-key";
  return error;
}

Duration seconds(double count) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(count));
}

/// The processors of part I of N: equal shares in their order, or one of them in turn. "": all.
Result<std::vector<int>> part_of_cpus(const std::string& part) {
  std::vector<int> cpus;
  if (part.empty()) return cpus;
  unsigned slot = 0;
  unsigned slots = 0;
  int read = 0;
  const bool is_part = std::sscanf(part.c_str(), "%u/%u%n", &slot, &slots, &read) == 2 &&
                       static_cast<std::size_t>(read) == part.size() && slot < slots;
  if (!is_part) return Error{ErrorCode::kBadInput, "--bind " + part + " is not I/N with I < N"};
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return cpus;
  std::vector<int> all;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) all.push_back(cpu);
  }
  const std::size_t count = all.size();
  if (slots >= count) return std::vector<int>{all[slot % count]};
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(slot * count / slots);
  return std::vector<int>(begin,
                          all.begin() + static_cast<std::ptrdiff_t>((slot + 1) * count / slots));
}

/// Processors are placed as `phoenix plan` places them.
Result<overlay::KnownNetwork> network_of(const std::string& path) {
  const auto text = app::read_text(path);
  if (!text.ok()) return text.error();
  const auto topology = overlay::Topology::parse(text.value());
  if (!topology.ok()) return Error{ErrorCode::kBadInput, path + ": " + topology.error().what};
  return overlay::known_network(topology.value(), overlay::placed_by_site(topology.value()));
}

/// What it is told of others: members to ask, and descriptors that are left to it.
Status check_others(const Arguments& arguments) {
  for (const int number : {arguments.ready_fd, arguments.lifeline_fd}) {
    if (number < 0 || ::fcntl(number, F_GETFD) >= 0) continue;
    return Error{ErrorCode::kBadInput,
                 "--ready-fd, --end-with: descriptor " + std::to_string(number) + " is not open"};
  }
  for (const std::string& member : arguments.join) {
    const Result<tcp::Address> place = tcp::parse_address(member);
    if (!place.ok()) return place.error();
    if (place.value().port != 0) continue;
    return Error{ErrorCode::kBadInput, "--join " + member + ": the port is missing; write " +
                                           "ADDRESS:PORT, as the other daemon's --listen"};
  }
  return success();
}

void set_times(const Arguments& arguments, runtime::DaemonConfig& config) {
  config.heartbeat_period = seconds(arguments.heartbeat_period);
  config.peer_timeout = seconds(arguments.peer_timeout);
  config.alone_max = seconds(arguments.alone_max);
  config.idle_max = seconds(arguments.idle_max);
}

Result<Options> checked(Arguments arguments) {
  if (arguments.mesh_dir.empty()) {
    const std::string all = tcp::meshes_folder();
    if (const Status made = tcp::make_private(all); !made.ok()) return made.error();
    arguments.mesh_dir = all + "/" + arguments.mesh;
  }
  // Processes of jobs, which get the path of the socket in it, have folders of their own.
  std::error_code failure;
  arguments.mesh_dir = std::filesystem::absolute(arguments.mesh_dir, failure).lexically_normal();
  if (arguments.key.empty()) arguments.key = arguments.mesh_dir + "/key";
  if (arguments.name.empty()) arguments.name = machine_name();
  const Result<tcp::Address> listen = tcp::parse_address(arguments.listen);
  if (!listen.ok()) return listen.error();
  if (const Status others = check_others(arguments); !others.ok()) return others.error();
  if (arguments.peer_timeout < 2 * arguments.heartbeat_period) {
    return Error{ErrorCode::kBadInput,
                 "--peer-timeout must be at least twice --heartbeat-period, or a peer that is "
                 "merely quiet is declared dead"};
  }
  const auto cpus = part_of_cpus(arguments.bind);
  if (!cpus.ok()) return cpus.error();
  if (const Status made = tcp::make_private(arguments.mesh_dir); !made.ok()) return made.error();
  const Result<tcp::MeshKey> key = key_of(arguments);
  if (!key.ok()) return key.error();

  Options options;
  if (!arguments.network.empty()) {
    auto network = network_of(arguments.network);
    if (!network.ok()) return network.error();
    options.network = std::move(network).value();
  }
  options.mesh_dir = arguments.mesh_dir;
  options.cpus = cpus.value();
  options.ready_fd = arguments.ready_fd;
  options.lifeline_fd = arguments.lifeline_fd;
  options.detached = arguments.detach;
  options.is_guest = arguments.key == "-";
  if (arguments.detach && arguments.log_file.empty()) {
    arguments.log_file = arguments.mesh_dir + "/phoenixd-" + std::to_string(::getpid()) + ".log";
  }
  options.log = {.level = arguments.log_level, .file = arguments.log_file};
  options.driver.key = key.value();
  options.driver.listen = listen.value();
  options.driver.advertise = arguments.advertise;
  options.driver.join = arguments.join;
  options.driver.name = arguments.name;
  options.driver.keeper = keeper_path();
  options.driver.mpi_folder = tcp::mpi_folder();
  options.driver.socket_path = arguments.mesh_dir + "/app-" + std::to_string(::getpid()) + ".sock";
  set_times(arguments, options.driver.config);
  options.driver.config.state_receivers = arguments.state_receivers;
  if (arguments.trees == kAdaptive) {
    options.driver.config.trees = runtime::TreeSource::kAdaptive;
  } else {
    options.driver.config.tree_style = arguments.trees;
  }
  return options;
}

}  // namespace

std::variant<Options, ExitAtOnce> read_options(int argc, char** argv) {
  const options::Program app(
      "The Phoenix daemon: one processor of a mesh. Usually started by `phoenix up`.");
  app.version("phoenixd " PHX_VERSION);
  app.footer(kFooter);
  Arguments arguments;
  declare(app, arguments);
  bool is_manual = false;
  app.add_flag("--manual", is_manual, "print the manual page, for man -l, and end");
  const auto complain = [](const std::string& what) {
    return "phoenixd: " + options::in_words(what) + "; see phoenixd --help\n";
  };
  const auto outcome = app.parse(argc, argv, complain);
  if (!outcome.goes_on) return ExitAtOnce{outcome.has_failed ? kBadConfiguration : 0};
  if (is_manual) {
    std::cout << app::manual_page(app.app(), {.name = "phoenixd",
                                              .section = 8,
                                              .synopsis = "[OPTIONS]",
                                              .closing = "SIGNALS, EXIT CODES AND EXAMPLES"});
    return ExitAtOnce{0};
  }
  Result<Options> options = checked(std::move(arguments));
  if (options.ok()) return std::move(options).value();
  std::cerr << "phoenixd: " << options.error().what << '\n';
  return ExitAtOnce{kBadConfiguration};
}

}  // namespace phx::phoenixd
