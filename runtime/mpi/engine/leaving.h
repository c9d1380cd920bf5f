#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "runtime/mpi/engine/traffic.h"

namespace phx::mpi {

/// What a process says to others through the daemons, until the runtime takes it. Long messages are
/// packed part by part, as far as their receivers keep pace, and what else there is passes them.
/// Not thread-safe: one owner.
class Leaving {
 public:
  /// So much of a way may be packed and not received: more than a window of the runtime's flows, so
  /// that packing holds nothing up.
  static constexpr MPI_Count kAhead = MPI_Count{32} << 20;
  /// False: nobody may send for the moment. Then it was not sent.
  using Send = std::function<bool(const Traffic::Output&)>;
  /// Bytes that were sent to a process and that it has not received.
  using Kept = std::function<MPI_Count(int to)>;
  /// All of a send is packed: its buffer is needed no more.
  using OnPacked = std::function<void(SendRequest&)>;

  void add(Traffic::Output output);
  /// Sends what may leave.
  void go_on(const Send& send, const Kept& kept, const OnPacked& on_packed);
  [[nodiscard]] bool is_empty() const { return waiting_.empty() && packing_.empty(); }

 private:
  struct Packing {
    Traffic::Output output;
    MPI_Count at = 0;  ///< packed
  };

  std::deque<Traffic::Output> waiting_;
  std::deque<Packing> packing_;
};

}  // namespace phx::mpi
