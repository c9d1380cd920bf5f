#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/tree_view.h"
#include "runtime/messages/effect.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// The timers of one job at one processor.
struct JobTimer {
  enum class Kind : std::uint8_t {
    kBalance,    ///< Ask for vnodes again, or offer them again.
    kReduction,  ///< Stop waiting for the children of `reduction`.
    kAttach,     ///< The application process should have attached by now.
    kStages,     ///< The home announces the stages that changed.
    kRoutes,     ///< The home announces the owners that changed.
    kFollow,     ///< Somebody should have come back to follow the job by now.
  };
  Kind kind = Kind::kBalance;
  JobId job;
  collectives::ReductionId reduction;
  friend auto operator<=>(const JobTimer&, const JobTimer&) = default;
};

/// A collective needs this tree now.
struct UseTree {
  TreeId tree;
};

/// What the machines of a job write into: envelopes, timers, effects.
using JobOutbox = phx::Outbox<Envelope, JobTimer, std::variant<Effect, UseTree>>;

/// To each of these but one: the sender itself, for instance.
template <class M>
void send_each(JobOutbox& out, const ProcessorSet& to, ProcessorId but, const M& message) {
  for (const ProcessorId id : to.ids()) {
    if (id != but) out.send(id, message);
  }
}

/// Adds a log line.
inline void note(JobOutbox& out, Note::Level level, std::string_view event, std::string detail) {
  out.report(Effect{Note{level, event, std::move(detail)}});
}

}  // namespace phx::runtime
