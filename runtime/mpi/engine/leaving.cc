#include "runtime/mpi/engine/leaving.h"

#include <utility>

namespace phx::mpi {

void Leaving::add(Traffic::Output output) {
  if (output.packs) {
    packing_.push_back({std::move(output)});
  } else {
    waiting_.push_back(std::move(output));
  }
}

void Leaving::go_on(const Send& send, const Kept& kept, const OnPacked& on_packed) {
  const auto send_waiting = [&] {
    while (!waiting_.empty() && send(waiting_.front())) waiting_.pop_front();
    return waiting_.empty();
  };
  if (!send_waiting()) return;
  for (Packing& next : packing_) {
    const Traffic::Output& output = next.output;
    while (next.at < output.bytes && kept(output.to) < kAhead) {
      Traffic::Output part{output.to, output.tag, output.pack(next.at)};
      next.at += static_cast<MPI_Count>(part.payload.size());
      waiting_.push_back(std::move(part));
      if (next.at == output.bytes) on_packed(*output.packs);
      if (!send_waiting()) return;
    }
  }
  std::erase_if(packing_, [](const Packing& one) { return one.at == one.output.bytes; });
}

}  // namespace phx::mpi
