#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/accumulator.h"
#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "runtime/endpoint/reserved_results.h"
#include "runtime/messages/delivery.h"

// What an application hands to its endpoint, and gets from it.
namespace phx::runtime {

/// Which messages are wanted; what is empty matches everything.
struct Selector {
  std::optional<VnodeId> at{};  ///< The receiving vnode.
  std::optional<Message::Kind> kind{};
  std::optional<VnodeId> from{};
  std::optional<std::uint32_t> tag{};
  std::optional<std::uint64_t> number{};
  std::optional<std::uint32_t> hidden_tag{};  ///< Messages and broadcasts with it match not.
  const ReservedResults* reserved = nullptr;  ///< Nor do these.
};

/// A message with the vnode that has received it.
using Received = std::pair<VnodeId, Message>;
/// Says of a message to a vnode whether it is wanted.
using Accepts = std::function<bool(VnodeId, const Message&)>;

/// One vnode's value in a reduction.
struct ContributionPart {
  collectives::ReductionKind kind;
  Payload value;
  std::size_t element_bytes = 0;  ///< Of kBytes: where the value may be cut. 0: nowhere.
  bool always = false;            ///< Not refused for what waits: small ones of the library.
};

/// A contribution takes part in the reductions `first`, ..., `first + pieces - 1` of its target.
struct Contribution {
  std::uint64_t first = 0;
  std::uint64_t pieces = 1;
};

/// A vnode that comes at a safe point.
struct Arrival {
  VnodeId vnode;
  std::optional<Payload> state;  ///< As packed by the last holder; empty before the first.
};

/// What the application has to do at a safe point.
struct SafePoint {
  VnodeSet departing;             ///< Pack the state of these; they are held until the finish.
  std::vector<Arrival> arriving;  ///< Install these; they are held from now on.
};

/// An amount for a person, rounded up: "3 KiB", "12 MiB".
[[nodiscard]] std::string spell_bytes(std::uint64_t bytes);

/// What the target of a bundled reduction gets: all values, in vnode order. Errors as of
/// take_values() [accumulator.h].
[[nodiscard]] Result<Payload> join_user_values(collectives::Accumulator& reduced);
/// The same values. Empty if `reduced` is not their message.
[[nodiscard]] std::vector<Payload> split_user_values(const Payload& reduced);

/// Of what is kept, from `first` to `end`, the younger half has not been asked about.
[[nodiscard]] constexpr bool is_worth_asking(std::uint64_t first, std::uint64_t asked,
                                             std::uint64_t end) {
  return 2 * (end - std::max(first, asked)) >= end - first;
}

}  // namespace phx::runtime
