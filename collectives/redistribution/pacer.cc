#include "collectives/redistribution/pacer.h"

namespace phx::redistribution {

Pacer::Pacer(const Schedule& schedule, const MessageGraph& graph, Pace pace)
    : pace_(pace), seats_(graph.processors) {
  for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
    for (const Part& part : schedule.steps[step]) {
      const Message& message = graph.messages[part.message];
      seats_[message.from].sends.push_back({step, part});
      ++seats_[message.to].awaited[step];
    }
  }
}

bool Pacer::may_begin(const Seat& seat) const {
  const std::size_t step = seat.sends[seat.next].step;
  const bool is_new = seat.next == 0 || seat.sends[seat.next - 1].step != step;
  if (pace_ == Pace::kNoBarrier || !is_new) return true;
  if (seat.unconfirmed > 0) return false;
  return pace_ == Pace::kBarrierSend || seat.awaited.empty() || seat.awaited.begin()->first >= step;
}

std::vector<Pacer::Send> Pacer::take(std::size_t self) {
  Seat& seat = seats_[self];
  std::vector<Send> begun;
  for (; seat.next < seat.sends.size() && may_begin(seat); ++seat.next) {
    begun.push_back(seat.sends[seat.next]);
    ++seat.unconfirmed;
  }
  return begun;
}

void Pacer::on_arrived(std::size_t at, std::size_t step) {
  auto& awaited = seats_[at].awaited;
  const auto found = awaited.find(step);
  if (--found->second == 0) awaited.erase(found);
}

}  // namespace phx::redistribution
