#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/recent_map.h"
#include "overlay/base/time.h"
#include "runtime/messages/client_messages.h"
#include "runtime/messages/effect.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// Serves tools that ask about several processors at once: `phoenix status` and `phoenix drain`.
/// Every question has a deadline, so a silent processor only shows up as silent. Not thread-safe.
class Tools {
 public:
  struct Timer {
    std::uint64_t question = 0;
    friend auto operator<=>(const Timer&, const Timer&) = default;
  };
  /// This very processor is to be drained.
  struct DrainSelf {};
  using Event = std::variant<Effect, DrainSelf>;
  using Outbox = phx::Outbox<Envelope, Timer, Event>;

  Tools(ProcessorId self, Duration status_timeout) : self_(self), timeout_(status_timeout) {}

  // Inputs. `own`: how this processor is itself.
  void on_status(Instant now, ClientId client, const StatusRequest& request, const View& view,
                 const ProcessorStatus& own, Outbox& out);
  void on_drain(Instant now, ClientId client, const DrainRequest& request, const View& view,
                const ProcessorStatus& own, Outbox& out);
  void on_answer(ProcessorId from, const StatusAnswer& answer, const View& view, Outbox& out);
  void on_timer(Instant now, const Timer& timer, const View& view, const ProcessorStatus& own,
                Outbox& out);
  void on_client_down(ClientId client);
  /// A processor that was to be drained stays.
  void on_refused(const LeaveRefused& refused, Outbox& out);
  /// The membership changed: drains may be done, and nobody waits for the dead.
  void on_view(const View& view, const std::vector<ViewChange::Gone>& gone, Outbox& out);

 private:
  static constexpr std::size_t kDiedMax = 1'000;

  /// One question to several processors.
  struct Question {
    ClientId client;
    std::vector<ProcessorId> drained;  ///< Of a drain: whom; empty: a status.
    ProcessorSet missing;              ///< Have not answered.
    std::map<ProcessorId, ProcessorStatus> answers;
    JobId job{};  ///< Of a status: with figures of its vnodes.
    TreeQuestion trees{};
  };

  void ask(Instant now, std::uint64_t number, Question question, const ProcessorStatus& own,
           Outbox& out);
  void answer_status(const Question& question, const View& view, Outbox& out);
  /// True if all are gone and the tool has been told.
  bool report_drain(const Question& question, const View& view, Outbox& out);

  ProcessorId self_;
  Duration timeout_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Question> questions_;
  RecentMap<ProcessorId, std::string> died_{kDiedMax};  ///< Did not leave, and how that was.
};

}  // namespace phx::runtime
