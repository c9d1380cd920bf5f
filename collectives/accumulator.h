#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "overlay/base/result.h"

namespace phx::collectives {

/// Contributions to ONE reduction, combined as far as that is possible, with the vnodes they come
/// from. Used on the way to the target and, in the endpoint of the target, for the result.
///
/// Guarantees: a contribution that was taken is in the value exactly once; one that overlaps what
/// is here is not taken, wholly or in part; what cannot be combined is kept beside the rest and
/// makes value() an error, so a wrong program gets a message and never a wrong number or a hang.
/// Does not guarantee: that `kind` exists; a kind from a peer may be anything.
/// Thread rule: one owner.
class Accumulator {
 public:
  enum class Added : std::uint8_t {
    kTaken,      ///< Combined, or bundled.
    kUnfit,      ///< Taken, but the value does not fit the others or its type: value() will fail.
    kOtherKind,  ///< Taken likewise; the contributor called another operation.
    kOverlap,    ///< Not taken: some of its vnodes are here already.
  };

  explicit Accumulator(const ReductionKind& kind) : kind_(kind) {}
  /// Goes on with parts() of another one of the same kind, and with what does not fit there.
  /// Overlapping parts are left out.
  Accumulator(const ReductionKind& kind, std::vector<ReductionPart> parts,
              const std::string& misfit = {});

  /// Takes all parts of a token; kOverlap: none, and `parts` is as it was.
  Added add(const ReductionKind& kind, std::vector<ReductionPart>&& parts);

  [[nodiscard]] const ReductionKind& kind() const { return kind_; }
  [[nodiscard]] const VnodeSet& covered() const { return covered_; }
  [[nodiscard]] bool complete(const VnodeSet& all) const { return covered_.contains_all(all); }
  [[nodiscard]] VnodeSet missing(const VnodeSet& all) const { return all.minus(covered_); }
  /// Bytes of the values held, and of the longest one.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t longest() const;

  /// What is held, in the order of vnodes; to be passed on or moved to another processor.
  [[nodiscard]] std::vector<ReductionPart> parts() const;
  /// The same without a copy; nothing is held afterwards.
  [[nodiscard]] std::vector<ReductionPart> take_parts();
  /// What is wrong with the first contribution that does not fit; empty: all fit.
  [[nodiscard]] const std::string& misfit() const { return misfit_; }

  /// The result over covered(). Errors (kBadInput): nothing was added; contributions that do not
  /// fit each other. REQUIRES an operator that is not bundled.
  [[nodiscard]] Result<Payload> value() const;
  /// The values of a bundled operator, in the order of vnodes; nothing is held afterwards. Errors
  /// (kBadInput): the same, and a value that stands for several vnodes.
  [[nodiscard]] Result<std::vector<ReductionPart>> take_values();

 private:
  /// A value that others may hold, too, or the result of combining it with others.
  struct Part {
    VnodeSet covered;
    Payload value;
    std::shared_ptr<std::byte[]> sum = {};  ///< The memory of `value`, if it was made here.
  };

  Added take(ReductionPart part);
  Added take_ordered(ReductionPart part, bool fits);
  [[nodiscard]] Status fits() const;
  void blame(const std::string& misfit);
  [[nodiscard]] std::string other_kind(const ReductionKind& kind, const ReductionPart& part) const;
  void join_halves(std::size_t at);
  void combine(Part& held, const Payload& value) const;
  [[nodiscard]] Payload joined() const;

  ReductionKind kind_;
  /// Disjoint. One, unless the operator is bundled or ordered, or some are unfit. Ordered ones
  /// in the order of vnodes, no two of them halves of one block.
  std::vector<Part> parts_;
  VnodeSet covered_;  ///< Of all parts.
  std::uint64_t bytes_ = 0;
  std::string misfit_;
};

}  // namespace phx::collectives
