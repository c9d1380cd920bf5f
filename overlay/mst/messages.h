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
#include "overlay/mst/round_messages.h"
#include "overlay/mst/search_messages.h"

/// What processors send each other to find and to adapt a minimum spanning tree. Who sends what,
/// and when, is in overlay/mst/README.md.
namespace phx::mst {

/// Of a search in this step.
struct Searching {
  Stamp stamp;
  SearchMessage what;
  friend bool operator==(const Searching&, const Searching&) = default;
};

// Between the ends of a channel, or along the tree.

/// What I measure for our channel.
struct Offer {
  Duration weight = kForever;
  friend bool operator==(const Offer&, const Offer&) = default;
};
struct OfferTaken {
  friend bool operator==(const OfferTaken&, const OfferTaken&) = default;
};
struct Seek {
  Stamp stamp;
  ProcessorId target;
  std::optional<EdgeKey> heaviest;  ///< On the way so far.
  friend bool operator==(const Seek&, const Seek&) = default;
};
struct SeekReply {
  Stamp stamp;
  std::optional<EdgeKey> heaviest;  ///< On the way to the target; none: it is not behind me.
  friend bool operator==(const SeekReply&, const SeekReply&) = default;
};

/// These are reached through me, from you; so far is the farthest one from me.
struct Behind {
  RoundId round;
  ProcessorSet processors;
  Duration farthest{};
  friend bool operator==(const Behind&, const Behind&) = default;
};

using Message =
    std::variant<Searching, Begin, Outdated, Ready, Step, Classified, Halted, Recover, Recovered,
                 Exchange, Exchanged, Done, Offer, OfferTaken, Seek, SeekReply, Behind>;

/// The name of its type; of a search: of what it carries. A literal.
[[nodiscard]] std::string_view name_of(const Message& message);

}  // namespace phx::mst
