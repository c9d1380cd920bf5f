#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <variant>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"

/// What the ends of an edge say to each other in a search for a minimum spanning tree. Who sends
/// what, and when, is in overlay/mst/README.md.
namespace phx::mst {

/// An edge and its place in the total order of all edges: equal weights are told apart by ids.
struct EdgeKey {
  Duration weight{};
  ProcessorId low;
  ProcessorId high;
  friend constexpr auto operator<=>(const EdgeKey&, const EdgeKey&) = default;

  /// The other end. REQUIRES that `one` is an end.
  [[nodiscard]] ProcessorId other(ProcessorId one) const { return one == low ? high : low; }
  [[nodiscard]] bool ends_at(ProcessorId id) const { return id == low || id == high; }
};
[[nodiscard]] inline EdgeKey edge_key(Duration weight, ProcessorId a, ProcessorId b) {
  return {weight, std::min(a, b), std::max(a, b)};
}

/// A machine that sets no timers.
struct NoTimer {
  friend bool operator==(const NoTimer&, const NoTimer&) = default;
};
/// One that reports nothing.
struct NoEvent {
  friend bool operator==(const NoEvent&, const NoEvent&) = default;
};

// Of a search, between the ends of an edge [Gallager83].

/// Let our fragments be one; mine is of this level.
struct Connect {
  std::uint32_t level = 0;
  friend bool operator==(const Connect&, const Connect&) = default;
};
/// You are in this fragment; look for its lightest outgoing edge, or do not.
struct Initiate {
  std::uint32_t level = 0;
  EdgeKey fragment;  ///< The key of its core.
  bool finds = false;
  friend bool operator==(const Initiate&, const Initiate&) = default;
};
/// Are you in another fragment than this one?
struct Test {
  std::uint32_t level = 0;
  EdgeKey fragment;
  friend bool operator==(const Test&, const Test&) = default;
};
struct Accept {
  friend bool operator==(const Accept&, const Accept&) = default;
};
struct Reject {
  friend bool operator==(const Reject&, const Reject&) = default;
};
/// The lightest outgoing edge on my side; none: there is none.
struct Report {
  std::optional<EdgeKey> best;
  std::uint64_t processors = 0;  ///< On my side.
  friend bool operator==(const Report&, const Report&) = default;
};
struct ChangeRoot {
  friend bool operator==(const ChangeRoot&, const ChangeRoot&) = default;
};
/// All of my piece of the tree but what is behind you has been heard [Agm s.3: reiden].
struct Rejoin {
  friend bool operator==(const Rejoin&, const Rejoin&) = default;
};
using SearchMessage =
    std::variant<Connect, Initiate, Test, Accept, Reject, Report, ChangeRoot, Rejoin>;

}  // namespace phx::mst
