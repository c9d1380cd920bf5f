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
/// the same with this part of the mesh. It asks where they were, as a tool would, and its part ends
/// when they go on as a larger one. Whoever joins changes nothing of that, and learns where to ask.
/// Who is alone ends also when it has been so for too long. A founder, which has begun a mesh
/// because nobody answered where it should have joined one, asks there, and ends when there is one
/// after all. None of this while a job runs. [README, "Parts"]. Not thread-safe: one owner.
class Solitude {
 public:
  struct Timer {
    friend auto operator<=>(const Timer&, const Timer&) = default;
  };
  /// This part of the mesh is of no use to anybody: a sentence.
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
  /// So many addresses of lost ones are remembered, and so many members are known.
  static constexpr std::size_t kLostMax = 16;
  static constexpr std::size_t kKnownMax = 16;

  /// `alone_max`: see DaemonConfig; `lost`: see JoinReply; `elsewhere`: see Birth.
  Solitude(ProcessorId self, Duration alone_max, std::vector<std::string> lost,
           std::vector<std::string> elsewhere);

  // Inputs. `is_idle`: no job runs in this part.
  void on_view(Instant now, const View& view, const std::vector<ViewChange::Gone>& gone,
               Outbox& out);
  /// The view of somebody who was asked; `own`: the last one of this processor.
  void on_answer(const View& other, const View& own, bool is_idle, Outbox& out);
  void on_timer(Instant now, bool is_idle, Outbox& out);

  // Queries.
  /// Where other parts of this mesh may be, for newcomers.
  [[nodiscard]] const std::vector<std::string>& lost() const { return lost_; }

 private:
  using Others = std::map<ProcessorId, std::vector<std::string>>;  ///< Where they are.

  void note_joined(const View& view);
  /// Whether there are more that are held for dead.
  bool note_gone(const std::vector<ViewChange::Gone>& gone);
  void note_members(const View& view);
  void add_lost(const std::vector<std::string>& endpoints);
  /// Which of the two goes on, if both are idle.
  [[nodiscard]] bool stays(const View& other, const View& own) const;
  [[nodiscard]] std::string next_to_ask();

  ProcessorId self_;
  Duration alone_max_;
  Others known_;                   ///< Members, drawn by lot: of a part as large as this one some.
  std::vector<std::string> lost_;  ///< Where those were; the next one to be asked first.
  std::vector<std::string> elsewhere_;  ///< Of a founder, until somebody comes.
  ProcessorSet members_;                ///< Of this part.
  bool is_asking_ = false;              ///< The timer runs.
  std::optional<Instant> alone_since_;
  Duration period_ = kPeriod;
  std::size_t asked_in_round_ = 0;
  std::string asked_;  ///< The last one.
};

}  // namespace phx::runtime
