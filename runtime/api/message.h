#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "overlay/base/payload.h"
#include "overlay/base/time.h"
#include "runtime/api/failure.h"
#include "runtime/api/values.h"
#include "runtime/messages/delivery.h"

namespace phx {

/// A name in the job's space 0..vnodes()-1. Messages are addressed to it, wherever it is held.
using Vnode = std::uint64_t;
/// Chosen by the application to tell its messages apart.
using Tag = std::uint32_t;
/// Not the application's: of what collectives send.
inline constexpr Tag kCollectiveTag = 0xffffffff;
/// How a message came: kPointToPoint, kBroadcast, kReduced, kAllreduced.
using Kind = runtime::Message::Kind;

/// A message as the application gets it.
struct Message {
  Vnode to = 0;
  Vnode from = 0;  ///< Of kBroadcast the root; of a reduction's result its target.
  Tag tag = 0;
  Kind kind = Kind::kPointToPoint;
  std::uint64_t number = 0;  ///< Of the reduction: see Ticket.
  Payload payload;           ///< May be kept; shared with the other vnodes of a broadcast.

  /// The value that was sent. Throws Failure (kBadInput) if it cannot be a T.
  template <class T>
  [[nodiscard]] T as() const {
    try {
      return decode<T>(payload);
    } catch (const Failure& failure) {
      const std::string way = "from v" + std::to_string(from) + " to v" + std::to_string(to);
      throw Failure(failure.code(), way + ", of tag " + std::to_string(tag) + ": " + failure.what())
          .about({to});
    }
  }
  /// Valid as long as this message.
  [[nodiscard]] std::string_view text() const { return payload.text(); }
};

/// Which message is wanted, and for how long: `{.at = v, .from = up, .tag = kHalo}`. What is left
/// out matches everything, but for `kind`: then it is a message that was sent to the vnode alone.
struct Wanted {
  std::optional<Vnode> at{};    ///< The receiving vnode; left out: any vnode held here.
  std::optional<Vnode> from{};  ///< The sender.
  std::optional<Tag> tag{};
  std::optional<Kind> kind{Kind::kPointToPoint};  ///< Of cast(): kBroadcast. Empty (`{}`): any.
  std::optional<Duration> timeout{};              ///< Left out: Options::timeout.
};

/// A contribution to one reduction, to recognise its result by.
struct Ticket {
  Vnode vnode = 0;  ///< Who contributed.
  Vnode target = 0;
  std::uint64_t number = 0;  ///< Of the first of `pieces` consecutive results.
  std::uint64_t pieces = 1;  ///< Long arrays are reduced piece by piece.
};

}  // namespace phx
