#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "collectives/redistribution/message_graph.h"
#include "collectives/redistribution/schedule.h"

namespace phx::redistribution {

/// When a step of a schedule begins at a processor. Each waits for what concerns it; nobody waits
/// for all.
enum class Pace : std::uint8_t {
  kNoBarrier,           ///< At once: everything leaves in the order of the steps.
  kBarrierSend,         ///< When the receivers have what it sent in the steps before.
  kBarrierSendReceive,  ///< When it has received what is for it in these steps, too.
};

/// Who may send what, while a schedule is carried out. Without time and messages: whoever carries
/// it out says what has arrived.
class Pacer {
 public:
  struct Send {
    std::size_t step = 0;
    Part part;
  };
  /// REQUIRES a schedule of the graph's messages.
  Pacer(const Schedule& schedule, const MessageGraph& graph, Pace pace);

  /// What this processor begins to send now, in this order.
  [[nodiscard]] std::vector<Send> take(std::size_t self);
  // Inputs. Whoever they concern may send more: take().
  void on_arrived(std::size_t at, std::size_t step);
  void on_confirmed(std::size_t sender) { --seats_[sender].unconfirmed; }

 private:
  /// One processor.
  struct Seat {
    std::vector<Send> sends;  ///< In the order of the steps.
    std::size_t next = 0;
    std::size_t unconfirmed = 0;
    std::map<std::size_t, std::size_t> awaited;  ///< Parts that have not come, by step.
  };
  [[nodiscard]] bool may_begin(const Seat& seat) const;

  Pace pace_;
  std::vector<Seat> seats_;
};

}  // namespace phx::redistribution
