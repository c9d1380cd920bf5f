#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "runtime/messages/effect.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// What a processor does that is alone because it has declared all others dead: they may live, and
/// have done the same with it. It asks them, as a tool would, and ends when one of them goes on in
/// a mesh without it, or when it has been alone for too long; but not while a job runs here.
/// [README, "Alone"]. Not thread-safe: one owner.
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
  /// Of the others so many are remembered.
  static constexpr std::size_t kOthersMax = 8;

  /// `alone_max`: see DaemonConfig.
  Solitude(ProcessorId self, Duration alone_max) : self_(self), alone_max_(alone_max) {}

  // Inputs. `is_idle`: no job runs here.
  void on_view(Instant now, const View& view, const std::vector<ViewChange::Gone>& gone,
               Outbox& out);
  /// The view of somebody who was asked.
  void on_answer(const View& other, bool is_idle, Outbox& out);
  void on_timer(Instant now, bool is_idle, Outbox& out);

 private:
  using Others = std::map<ProcessorId, std::vector<std::string>>;  ///< Where they are.

  ProcessorId self_;
  Duration alone_max_;
  Others known_;  ///< Members, the lowest of them.
  Others lost_;   ///< Held for dead.
  std::optional<Instant> alone_since_;
  Duration period_ = kPeriod;
  ProcessorId asked_;  ///< The last one.
};

}  // namespace phx::runtime
