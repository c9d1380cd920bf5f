#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/mst/search_messages.h"

/// What the conductor of a round and its members say to each other. Who sends what, and when, is in
/// overlay/mst/README.md.
namespace phx::mst {

/// Rounds are numbered by those who conduct them; the greater one is newer.
struct RoundId {
  std::uint64_t number = 0;  ///< 0: none.
  ProcessorId conductor;
  friend constexpr auto operator<=>(const RoundId&, const RoundId&) = default;
};
/// No conductor gets so far that adds one at a time. It goes on from what others say, so it is
/// believed beyond that: there is room for as many again.
constexpr std::uint64_t kRoundHeard = std::uint64_t{1} << 62U;
constexpr std::uint64_t kRoundMost = std::uint64_t{1} << 63U;
/// A step of a round.
struct Stamp {
  RoundId round;
  std::uint32_t step = 0;
  friend constexpr auto operator<=>(const Stamp&, const Stamp&) = default;
};

// Of a round, between its conductor and its members.

struct Begin {
  RoundId round;
  ProcessorSet members;
  friend bool operator==(const Begin&, const Begin&) = default;
};
/// I know of a newer round than the one that you began.
struct Outdated {
  RoundId newest;
  friend bool operator==(const Outdated&, const Outdated&) = default;
};
/// All my offers are taken.
struct Ready {
  RoundId round;
  RoundId tree;               ///< The round that my tree is from.
  std::uint64_t changes = 0;  ///< Offers, and channels that changed before; 0: no need to classify.
  friend bool operator==(const Ready&, const Ready&) = default;
};
enum class StepKind : std::uint8_t {
  kClassify,  ///< Say what changed.
  kForget,    ///< The same, after forgetting tree and references.
  kRejoin,    ///< Search from the pieces of the tree, over all channels.
  kTogether   ///< Search from single processors, over the tree and the recovered channels.
};
struct Step {
  Stamp stamp;
  StepKind kind = StepKind::kClassify;
  friend bool operator==(const Step&, const Step&) = default;
};
struct Classified {
  Stamp stamp;
  std::uint64_t changed = 0;        ///< Channels of the sender.
  std::uint64_t cut = 0;            ///< Edges of the tree that ended here.
  std::uint64_t degree = 0;         ///< Edges of the tree that are left here.
  std::vector<EdgeKey> recoveries;  ///< With their new weights; told by the lower end.
  friend bool operator==(const Classified&, const Classified&) = default;
};
/// A fragment is final, and so large.
struct Halted {
  Stamp stamp;
  std::uint64_t processors = 0;
  friend bool operator==(const Halted&, const Halted&) = default;
};
/// Which edge of the cycle that this one closes is the heaviest?
struct Recover {
  Stamp stamp;
  EdgeKey edge;
  friend bool operator==(const Recover&, const Recover&) = default;
};
struct Recovered {
  Stamp stamp;
  bool is_in_tree = false;
  std::optional<EdgeKey> heaviest;  ///< None: it closes no cycle.
  friend bool operator==(const Recovered&, const Recovered&) = default;
};
struct Exchange {
  Stamp stamp;
  EdgeKey in;
  std::optional<EdgeKey> out;
  friend bool operator==(const Exchange&, const Exchange&) = default;
};
struct Exchanged {
  Stamp stamp;
  friend bool operator==(const Exchanged&, const Exchanged&) = default;
};
struct Done {
  RoundId round;
  friend bool operator==(const Done&, const Done&) = default;
};

}  // namespace phx::mst
