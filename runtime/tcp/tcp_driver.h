#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/network/known_network.h"
#include "runtime/messages/config.h"
#include "runtime/messages/effect.h"
#include "runtime/messages/local_messages.h"
#include "runtime/tcp/address.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/key.h"
#include "runtime/tcp/log_sink.h"

namespace phx::tcp {

struct Inside;
class Loop;

struct DriverOptions {
  MeshKey key{};
  /// Numeric address; port 0: any free one. Empty: nobody can connect (a mesh of one).
  std::optional<Address> listen = Address{"127.0.0.1", 0};
  /// "address[:port]" at which the others reach us, the preferred one first. Empty: where we
  /// listen, or, if that is a wildcard, the addresses of the interfaces.
  std::vector<std::string> advertise;
  /// "address:port" of members to ask for admission [admission.h]. Empty: a new mesh.
  std::vector<std::string> join;
  std::string name;         ///< The machine's name, for people.
  std::string socket_path;  ///< UNIX socket for applications. Empty: none, and none are started.
  bool offers_rings = true;  ///< To applications [rings.h].
  bool lends_on_links = true;           ///< Long payloads, to daemons of this machine [loans.h].
  std::size_t applications_max = 1024;  ///< Attached at once [limit].
  std::string keeper;       ///< The program phoenix-keeper [spawn.h]; empty: none.
  std::string mpi_folder;   ///< Where MPI programs find their library [library_path.h], or empty.
  runtime::DaemonConfig config;
};

/// Runs one Daemon over TCP: sockets, processes, the clock and one timer. It executes what the
/// daemon wants, and decides nothing itself [STYLE 2.9].
/// Thread rule: drain(), know() and halt() on any thread; all else on one at a time.
class TcpDriver {
 public:
  /// Binds, begins a mesh or joins it [admission.h], and is a member when it returns. Errors are
  /// for the person who started it: kBadInput, kBusy (port taken), kDenied (wrong key),
  /// kUnavailable (no member answers) ...
  [[nodiscard]] static Result<std::unique_ptr<TcpDriver>> start(const DriverOptions& options,
                                                                LogSink log);
  TcpDriver(const TcpDriver&) = delete;
  TcpDriver& operator=(const TcpDriver&) = delete;
  ~TcpDriver();

  /// Returns when the daemon has ended and what was queued is written: how it ended.
  [[nodiscard]] runtime::Stop run();

  /// From now on SIGTERM and SIGINT of this process mean drain(), and one more SIGINT halt().
  /// SIGHUP opens the log file anew; without one it means drain() if there was a terminal, else
  /// nothing, and nothing under nohup. To be called before run(), by programs whose main business
  /// this is.
  void obey_signals();
  /// Takes the mesh down when nobody holds the other end of this pipe any more. Before run().
  void end_with(Descriptor lifeline);
  /// Leaves the mesh in good order; run() returns when that is done.
  void drain();
  /// Trees are drawn over this network, and not over the one that is measured [Daemon::know].
  void know(overlay::KnownNetwork network);
  /// Ends at once, as a crash would look to the others; run() returns with code 130.
  void halt();

  // For a daemon inside an application [embedded.h], instead of run().
  [[nodiscard]] Loop& loop();  ///< Stopped when the daemon has ended.
  /// What the application says, and hears; the first message begins its attachment. `may_join`:
  /// what belongs to a burst may be left for more of it, until flush().
  void on_inside(std::span<runtime::ToDaemon> messages, bool may_join);
  void flush();
  void on_inside_gone();
  [[nodiscard]] Inside& inside();

  [[nodiscard]] ProcessorId self() const;
  /// As the others know them; empty if there is no listener.
  [[nodiscard]] const std::vector<std::string>& endpoints() const;

 private:
  class Core;
  explicit TcpDriver(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace phx::tcp
