#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "runtime/messages/effect.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// What the coordinator of a mesh does that has declared others dead: they may live, and have done
/// the same with this part of the mesh. It asks them, as a tool would, and ends when they go on as
/// a larger mesh without it, so that the next one here is the coordinator, and does the same. Who
/// is alone ends also when it has been so for too long. A founder, which has begun a mesh because
/// nobody answered where it should have joined one, asks there, and ends when there is one after
/// all. None of this while a job runs. [README, "Parts"]. Not thread-safe: one owner.
class Solitude {
 public:
  struct Timer {
    friend auto operator<=>(const Timer&, const Timer&) = default;
  };
  /// This processor is of no use to anybody: a sentence.
  struct GivenUp {
    std::string why;
  };
  using Event = std::variant<Inquire, GivenUp>;
  using Outbox = phx::Outbox<Envelope, Timer, Event>;

  /// One of the others is asked this often, the longer it takes the more rarely.
  static constexpr Duration kPeriod = 5s;
  static constexpr Duration kPeriodMax = 2min;
  /// And a founder asks this often, one address after the other.
  static constexpr Duration kFounderPeriod = 10s;
  /// So many of the lost ones are remembered, of so many members that are known.
  static constexpr std::size_t kLostMax = 8;
  static constexpr std::size_t kKnownMax = 16;

  /// `alone_max`: see DaemonConfig; `elsewhere`: see Birth.
  Solitude(ProcessorId self, Duration alone_max, std::vector<std::string> elsewhere)
      : self_(self), alone_max_(alone_max), elsewhere_(std::move(elsewhere)) {}

  // Inputs. `is_idle`: no job runs in this part.
  void on_view(Instant now, const View& view, const std::vector<ViewChange::Gone>& gone,
               Outbox& out);
  /// The view of somebody who was asked; `own`: the last one of this processor.
  void on_answer(const View& other, const View& own, bool is_idle, Outbox& out);
  void on_timer(Instant now, bool is_idle, Outbox& out);

 private:
  using Others = std::map<ProcessorId, std::vector<std::string>>;  ///< Where they are.

  /// Whether there are more that are held for dead.
  bool note_members(const View& view, const std::vector<ViewChange::Gone>& gone);
  /// Which of the two goes on, if both are idle.
  [[nodiscard]] bool stays(const View& other, const View& own) const;
  /// The addresses of whoever is asked next.
  [[nodiscard]] std::vector<std::string> next_to_ask();

  ProcessorId self_;
  Duration alone_max_;
  Others known_;            ///< Members, evenly taken: of a part as large as this one some.
  Others lost_;             ///< Held for dead, since somebody came for the last time.
  std::vector<std::string> elsewhere_;  ///< Of a founder, until somebody comes.
  ProcessorSet members_;                ///< Of this part.
  bool is_asking_ = false;  ///< The timer runs.
  std::optional<Instant> alone_since_;
  Duration period_ = kPeriod;
  ProcessorId asked_;  ///< The last one.
  std::size_t asked_elsewhere_ = 0;
};

}  // namespace phx::runtime
