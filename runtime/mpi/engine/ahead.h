#pragma once

#include <optional>
#include <vector>

#include "runtime/mpi/include/mpi.h"

namespace phx::mpi {

/// How far senders are ahead of receivers: messages that travelled at once and have not met their
/// receives, in bytes and what each costs besides. Both ends of each pair count; receivers tell
/// senders in credits, of many messages together [README.md, "What waits"].
///
/// Guarantees: a receiver that has taken all has told so much that its senders go on.
class Ahead {
 public:
  /// What one process may have at another one; less among many processes.
  static constexpr MPI_Count kMost = MPI_Count{4} << 20;
  /// The same of casts, but for the last one.
  static constexpr MPI_Count kCastMost = MPI_Count{64} << 20;

  /// What has met receives.
  struct Credit {
    MPI_Count sent = 0;
    MPI_Count cast = 0;
  };

  /// How many processes there are: all together have a bound, too.
  void expect_senders(int processes);

  // At senders.
  /// Whether a message of so many bytes may leave at once; it is counted then.
  bool may_send(int process, MPI_Count bytes);
  [[nodiscard]] bool may_cast(int process) const;
  void on_cast(int process, MPI_Count bytes);
  void on_credit(int from, const Credit& credit);

  // At receivers.
  /// A message has met its receive, or was withdrawn. Returns what the sender should hear, if it is
  /// worth a message.
  std::optional<Credit> on_taken(int from, MPI_Count bytes, bool was_cast);

 private:
  struct Peer {
    Credit ahead;  ///< of it, as far as this process knows
    Credit taken;  ///< from it, and not told yet
  };
  Peer& peer(int process);

  std::vector<Peer> peers_;  ///< by process; as many as were needed
  MPI_Count most_ = kMost;
};

}  // namespace phx::mpi
