#include "runtime/mpi/engine/ahead.h"

#include <algorithm>
#include <utility>

namespace phx::mpi {
namespace {

/// What a message that waits for its receive takes besides its bytes, about.
constexpr MPI_Count kRest = 128;

}  // namespace

void Ahead::expect_senders(int processes) {
  constexpr MPI_Count kAll = MPI_Count{256} << 20;
  constexpr MPI_Count kLeast = MPI_Count{512} << 10;
  most_ = std::clamp(kAll / processes, kLeast, kMost);
}

Ahead::Peer& Ahead::peer(int process) {
  const auto i = static_cast<std::size_t>(process);
  if (peers_.size() <= i) peers_.resize(i + 1);
  return peers_[i];
}

bool Ahead::may_send(int process, MPI_Count bytes) {
  MPI_Count& ahead = peer(process).ahead.sent;
  if (ahead + bytes + kRest > most_) return false;
  ahead += bytes + kRest;
  return true;
}

bool Ahead::may_cast(int process) const {
  const auto i = static_cast<std::size_t>(process);
  return i >= peers_.size() || peers_[i].ahead.cast <= kCastMost / 2;
}

void Ahead::on_cast(int process, MPI_Count bytes) {
  peer(process).ahead.cast += bytes + kRest;
}

void Ahead::on_credit(int from, const Credit& credit) {
  Credit& ahead = peer(from).ahead;
  ahead.sent -= credit.sent;
  ahead.cast -= credit.cast;
}

std::optional<Ahead::Credit> Ahead::on_taken(int from, MPI_Count bytes, bool was_cast) {
  Credit& taken = peer(from).taken;
  (was_cast ? taken.cast : taken.sent) += bytes + kRest;
  if (taken.sent < most_ / 2 && taken.cast < kCastMost / 4) return std::nullopt;
  return std::exchange(taken, {});
}

}  // namespace phx::mpi
