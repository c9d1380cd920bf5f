#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/phoenix/mesh/mesh_dir.h"
#include "overlay/base/result.h"

namespace phx::app {

/// A machine to start a daemon on; empty `host`: this one.
struct Place {
  std::string host;
  std::string listen;       ///< Address to listen at; empty: loopback here, all addresses there.
  std::uint32_t slot = 0;   ///< Which of those on its machine,
  std::uint32_t slots = 1;  ///< of so many.
};

/// So many daemons are started on this machine at most [limit].
inline constexpr std::uint32_t kLocalMost = 1024;
/// The remote shell, unless another one is said.
inline constexpr const char* kSsh = "ssh -o BatchMode=yes -o ConnectTimeout=10";

struct LaunchOptions {
  /// How to run a command on another machine: "PROGRAM ARGS..."; host and command are added.
  /// Empty: kSsh; a daemon on this machine, as "localhost", is started without it then.
  std::string remote_shell;
  /// The daemon's program on the other machines; empty: the path it has here.
  std::string remote_daemon;
  std::vector<std::string> daemon_options;  ///< Passed on as they are.
  std::uint32_t at_once = 16;               ///< Daemons being started at the same time.
  bool binds = false;                       ///< Each to processors of its own, by its slot.
  bool quiet = false;                       ///< No progress on stderr.
  int lifeline = -1;  ///< Daemons here end their mesh when this process does; see lifeline().
};

/// By any of its names; the empty one is, too.
[[nodiscard]] bool is_this_machine(const std::string& host);

/// A daemon that has become a member.
struct Launched {
  std::uint32_t id = 0;
  std::string endpoint;
};

/// Starts one daemon per place and waits until each is a member of the mesh of `dir`. Without
/// `join` the first one founds the mesh and the others join it. Daemons that started stay if
/// another failed; the error then names them, and each that failed with what it said; nothing goes
/// on being started. kAborted: interrupted [interrupts.h].
[[nodiscard]] Result<std::vector<Launched>> launch(const MeshDir& dir,
                                                   const std::vector<Place>& places,
                                                   std::vector<std::string> join,
                                                   const LaunchOptions& options);

/// For LaunchOptions of meshes that must not outlive this process, however that ends: one end of a
/// pipe of which this process alone has the other. -1: no descriptors are left.
[[nodiscard]] int lifeline();

/// One for each of its slots. A host may say how many: "HOST:N". kBadInput: none, or too many.
[[nodiscard]] Result<std::vector<Place>> slots_of(Place place);

/// One machine per line, "HOST[:N] [slots=N] [listen=ADDRESS]"; '#' begins a comment.
[[nodiscard]] Result<std::vector<Place>> read_hosts(const std::string& file);

/// The path of a program of this product: beside this one, in ../libexec/phoenix, else as PATH
/// finds it.
[[nodiscard]] std::string program_path(const std::string& name);

}  // namespace phx::app
