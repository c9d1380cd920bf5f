#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/mst/search_messages.h"

/// What processors send each other to find and to adapt a minimum spanning tree. Who sends what,
/// and when, is in overlay/mst/README.md.
namespace phx::mst {

/// Rounds are numbered by those who conduct them; the greater one is newer.
struct RoundId {
  std::uint64_t number = 0;  ///< 0: none.
  ProcessorId conductor;
  friend constexpr auto operator<=>(const RoundId&, const RoundId&) = default;
};
/// A step of a round.
struct Stamp {
  RoundId round;
  std::uint32_t step = 0;
  friend constexpr auto operator<=>(const Stamp&, const Stamp&) = default;
};

/// Of a search in this step.
struct Searching {
  Stamp stamp;
  SearchMessage what;
};

// Of a round, between its conductor and its members.

struct Begin {
  RoundId round;
  ProcessorSet members;
};
/// I know of a newer round than the one that you began.
struct Outdated {
  RoundId newest;
};
/// All my offers are taken.
struct Ready {
  RoundId round;
  RoundId tree;               ///< The round that my tree is from.
  std::uint64_t changes = 0;  ///< Offers, and channels that changed before; 0: no need to classify.
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
};
struct Classified {
  Stamp stamp;
  std::uint64_t changed = 0;        ///< Channels of the sender.
  std::uint64_t cut = 0;            ///< Edges of the tree that ended here.
  std::uint64_t degree = 0;         ///< Edges of the tree that are left here.
  std::vector<EdgeKey> recoveries;  ///< With their new weights; told by the lower end.
};
/// A fragment is final, and so large.
struct Halted {
  Stamp stamp;
  std::uint64_t processors = 0;
};
/// Which edge of the cycle that this one closes is the heaviest?
struct Recover {
  Stamp stamp;
  EdgeKey edge;
};
struct Recovered {
  Stamp stamp;
  bool is_in_tree = false;
  std::optional<EdgeKey> heaviest;  ///< None: it closes no cycle.
};
struct Exchange {
  Stamp stamp;
  EdgeKey in;
  std::optional<EdgeKey> out;
};
struct Exchanged {
  Stamp stamp;
};
struct Done {
  RoundId round;
};

// Between the ends of a channel, or along the tree.

/// What I measure for our channel.
struct Offer {
  Duration weight = kForever;
};
struct OfferTaken {};
struct Seek {
  Stamp stamp;
  ProcessorId target;
  std::optional<EdgeKey> heaviest;  ///< On the way so far.
};
struct SeekReply {
  Stamp stamp;
  std::optional<EdgeKey> heaviest;  ///< On the way to the target; none: it is not behind me.
};

/// These are reached through me, from you; so far is the farthest one from me.
struct Behind {
  RoundId round;
  ProcessorSet processors;
  Duration farthest{};
};

using Message =
    std::variant<Searching, Begin, Outdated, Ready, Step, Classified, Halted, Recover, Recovered,
                 Exchange, Exchanged, Done, Offer, OfferTaken, Seek, SeekReply, Behind>;

/// The name of its type; of a search: of what it carries. A literal.
[[nodiscard]] std::string_view name_of(const Message& message);

}  // namespace phx::mst
