#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "runtime/api/message.h"
#include "runtime/api/past_trees.h"
#include "runtime/api/reduce.h"
#include "runtime/api/session_core.h"
#include "runtime/api/vnode_values.h"

namespace phx {

/// The collective calls of a Session, on bytes. All vnodes take part, in the same order everywhere.
/// Made of reductions and broadcasts, which go down and up the trees, and for what is too long for
/// that of messages straight from vnode to vnode. README.md, "How collectives are made".
/// Throws Failure. Thread rule: as of Session.
class Collectives {
 public:
  explicit Collectives(SessionCore& core) : core_(core) {}

  /// `make()` is called if `root` is held here.
  [[nodiscard]] Payload broadcast(Vnode root, const std::function<Payload()>& make,
                                  const char* operation);
  [[nodiscard]] Payload allreduce(const Reduction& reduction, const VnodeValues& values,
                                  const char* operation);
  /// Nothing where `target` is not held. Does not wait there.
  [[nodiscard]] std::optional<Payload> reduce(Vnode target, const Reduction& reduction,
                                              const VnodeValues& values, const char* operation);
  /// The results are messages for the program.
  [[nodiscard]] std::vector<Ticket> contribute(Vnode target, const Reduction& reduction,
                                               const VnodeValues& values, const char* operation) {
    return give(target, reduction, values, operation, /*is_reserved=*/false);
  }
  /// All values by vnode, where `target` is held.
  [[nodiscard]] std::optional<std::vector<Payload>> gather(Vnode target, const VnodeValues& values,
                                                           const char* operation);
  [[nodiscard]] std::vector<Payload> allgather(const VnodeValues& values);
  /// `make()` gives one part per vnode of the job, where `root` is held. The parts of those held.
  [[nodiscard]] VnodeValues scatter(Vnode root, const std::function<std::vector<Payload>()>& make,
                                    const char* operation);
  /// Of each vnode held one part per vnode of the job; to each vnode held the parts by sender.
  [[nodiscard]] std::map<Vnode, std::vector<Payload>> alltoall(
      const std::map<Vnode, std::vector<Payload>>& rows);
  /// To each vnode held the values up to its own, combined; with `first` that one and those before
  /// it.
  [[nodiscard]] VnodeValues scan(const Reduction& reduction, const VnodeValues& values,
                                 const std::optional<Payload>& first);

 private:
  using Sent = PastTrees::Sent;
  using Expected = PastTrees::Expected;
  /// `is_reserved`: the results are for this call alone.
  [[nodiscard]] std::vector<Ticket> give(Vnode target, const Reduction& reduction,
                                         const VnodeValues& values, const char* operation,
                                         bool is_reserved = true);
  [[nodiscard]] std::vector<Payload> exchange(std::deque<Sent> sends,
                                              std::vector<Expected> expected,
                                              const char* operation);
  [[nodiscard]] Payload await_broadcast(Vnode root, const char* operation);
  void cast(Vnode root, const Payload& payload, const char* operation);
  [[nodiscard]] std::vector<Vnode> held(const char* operation) const;
  void check_complete(std::vector<Vnode> given, const char* operation) const;

  SessionCore& core_;
};

}  // namespace phx
