#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "overlay/network/known_network.h"
#include "runtime/tcp/log_sink.h"
#include "runtime/tcp/tcp_driver.h"

namespace phx::phoenixd {

/// What was asked for on the command line, checked.
struct Options {
  std::string mesh_dir;
  std::vector<int> cpus;  ///< This daemon, and what it starts, run on these; empty: on all.
  int ready_fd = -1;      ///< Gets one line "<id> <endpoint>" once this is a member; -1: none.
  int lifeline_fd = -1;   ///< The mesh ends when the other end of this pipe is closed; -1: none.
  bool is_guest = false;  ///< The key came through a pipe: nothing is to stay on this machine.
  bool detached = false;  ///< Runs in the background already.
  std::optional<overlay::KnownNetwork> network;  ///< Instead of the one that is measured.
  tcp::LogOptions log;
  tcp::DriverOptions driver;
};

/// Exit code: the configuration is wrong.
inline constexpr int kBadConfiguration = 2;

/// The exit code of a process that has nothing (more) to do: help was shown, or, with a line on
/// standard error, the command line was wrong.
struct ExitAtOnce {
  int code = 0;
};

/// Reads the command line, the key file, and makes the mesh directory.
[[nodiscard]] std::variant<Options, ExitAtOnce> read_options(int argc, char** argv);

}  // namespace phx::phoenixd
