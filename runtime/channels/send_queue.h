#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <vector>

#include "overlay/base/queue.h"
#include "runtime/channels/classes.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

struct SendQueueOptions {
  /// A flow of which only envelopes up to this size wait, and no more than so many bytes in all,
  /// is short.
  std::uint64_t short_envelope = std::uint64_t{4} << 10U;
  std::uint64_t short_flow = std::uint64_t{64} << 10U;
  /// What short flows may send in a row while others wait.
  std::uint64_t short_in_a_row = std::uint64_t{256} << 10U;
  std::uint64_t quantum = std::uint64_t{64} << 10U;  ///< Of a bulk flow, per turn.
};

/// The envelopes that wait for a link to one neighbour. Says which one leaves next: control, then
/// short flows in turn, then bulk flows in turn, by bytes [README, "Classes"]. Not thread-safe.
///
/// Guarantees: control keeps its order, and so does each flow; bulk gets a turn after every
/// `short_in_a_row` bytes of short flows.
class SendQueue {
 public:
  struct Item {
    Envelope envelope;
    std::uint64_t bytes = 0;
  };

  explicit SendQueue(const SendQueueOptions& options = {}) : options_(options) {}

  /// REQUIRES that it is no fence.
  void push(const Standpoint& standpoint, Item&& item);
  /// REQUIRES !empty().
  [[nodiscard]] Item pop();

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Of these: copies of broadcasts.
  [[nodiscard]] std::uint64_t copy_bytes() const { return copy_bytes_; }
  void check_invariants() const;

 private:
  using Turns = std::list<FlowKey>;
  struct Flow {
    std::deque<Item> items;
    std::uint64_t bytes = 0;
    std::int64_t credit = 0;  ///< Of a bulk flow: what it may send in this turn.
    bool is_bulk = false;     ///< Until nothing of it waits.
    Turns::iterator turn;     ///< In the list of its class.
  };
  using Flows = std::map<FlowKey, Flow>;

  void push_to_flow(const FlowKey& key, Item&& item);
  [[nodiscard]] Item pop_short();
  [[nodiscard]] Item pop_bulk();
  [[nodiscard]] Item take_from(Flows::iterator at, Turns& turns);
  void drop(JobId job);

  SendQueueOptions options_;
  Queue<Item> control_;
  Flows flows_;
  Turns short_;  ///< Flows of which something waits, in the order of their turns.
  Turns bulk_;
  std::uint64_t short_in_a_row_ = 0;
  std::size_t size_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t copy_bytes_ = 0;
};

}  // namespace phx::runtime
