#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>

#include "overlay/base/ids.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "overlay/mst/messages.h"

namespace phx::mst {

/// One processor's part of the question which edge is the heaviest one between two processors in
/// the tree [Agm s.3]: a wave that carries the heaviest edge so far, and its echo. Thread rule: one
/// owner.
class CycleSearch {
 public:
  /// All answers are in, at the processor that asked. None: the target is not in this tree.
  struct Answer {
    std::optional<EdgeKey> heaviest;
    friend bool operator==(const Answer&, const Answer&) = default;
  };
  using Outbox = phx::Outbox<Message, NoTimer, Answer>;

  /// `weights` of at least the branches, which are the edges of the tree here.
  CycleSearch(ProcessorId self, const Stamp& stamp, const std::set<ProcessorId>& branches)
      : self_(self), stamp_(stamp), branches_(branches) {}

  /// From the one who asks.
  void start(ProcessorId target, Outbox& out);
  /// `weight`: of the edge that it came over.
  void on_seek(ProcessorId from, const Seek& m, Duration weight, Outbox& out);
  void on_reply(const SeekReply& m, Outbox& out);

 private:
  void pass_on(const Seek& m, Outbox& out);
  void finish(Outbox& out);

  ProcessorId self_;
  Stamp stamp_;
  std::set<ProcessorId> branches_;
  std::optional<ProcessorId> asker_;  ///< Empty: this processor began.
  std::size_t awaited_ = 0;
  std::optional<EdgeKey> heaviest_;
};

}  // namespace phx::mst
