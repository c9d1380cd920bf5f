#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/mst/messages.h"

namespace phx::mst {

/// The tree that a processor keeps, by name: the round that made it, and for whom.
struct Version {
  RoundId round;
  ProcessorSet members;
  friend bool operator==(const Version&, const Version&) = default;
};

/// Says to all members of a round what step comes next, and knows when one is over. It has no part
/// in searches, and knows of no edge but those that recovered. [overlay/mst/README.md]. Thread
/// rule: one owner.
///
/// Guarantees: recoveries come after failures; one step at a time.
class Conductor {
 public:
  using Outbox = phx::Outbox<Message, NoTimer, NoEvent>;

  explicit Conductor(ProcessorId self) : self_(self) {}

  // Commands.
  /// A new round; one that runs is given up. `own`: of this processor. `newest`: that it knows.
  /// REQUIRES that it is a member.
  void begin(const ProcessorSet& members, const Version& own, const RoundId& newest, Outbox& out);
  /// It conducts no more.
  void stop() { stage_ = Stage::kIdle; }

  // Inputs. What is not of this step changes nothing.
  void on_message(ProcessorId from, const Message& message, Outbox& out);

  [[nodiscard]] bool is_busy() const { return stage_ != Stage::kIdle; }

 private:
  enum class Stage : std::uint8_t {
    kIdle,
    kOffers,
    kClassify,
    kRejoin,
    kTogether,
    kRecover,
    kExchange
  };

  void handle(ProcessorId from, const Ready& m, Outbox& out);
  void handle(ProcessorId from, const Outdated& m, Outbox& out);
  void handle(ProcessorId from, const Classified& m, Outbox& out);
  void handle(ProcessorId from, const Halted& m, Outbox& out);
  void handle(ProcessorId from, const Recovered& m, Outbox& out);
  void handle(ProcessorId from, const Exchanged& m, Outbox& out);

  void step(StepKind kind, Stage stage, Outbox& out);
  void after_classes(Outbox& out);
  void next_recovery(Outbox& out);
  [[nodiscard]] bool together_is_cheaper() const;
  void end(bool has_changed, Outbox& out);

  ProcessorId self_;
  Stage stage_ = Stage::kIdle;
  Stamp stamp_;
  ProcessorSet members_;
  Version known_;                    ///< The tree of this processor when the round began.
  std::set<ProcessorId> awaited_;    ///< Whose answer to this step is missing.
  bool has_strange_tree_ = false;    ///< Somebody's tree is of another round.
  std::uint64_t changes_ = 0;        ///< That may be, as said in `Ready`.
  std::uint64_t changed_ = 0;        ///< Ends of channels with another class than unchanged.
  std::uint64_t cut_ = 0;            ///< Ends of edges that were cut.
  std::uint64_t degrees_ = 0;        ///< Ends of edges that were left.
  std::uint64_t halted_ = 0;         ///< Processors in final fragments.
  std::vector<EdgeKey> recoveries_;  ///< Those still to do, the lightest last.
};

}  // namespace phx::mst
