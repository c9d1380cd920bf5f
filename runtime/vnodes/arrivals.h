#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// The receiver's end of moves: contents of vnodes that come ahead, in pieces, until the vnodes
/// come [README, "Pieces"]. Not thread-safe.
class Arrivals {
 public:
  /// Of an accepted vnode; empty: it was taken. Else a reason not to take the vnode: pieces are
  /// missing or do not fit, and what has come is forgotten.
  [[nodiscard]] std::string on_piece(ProcessorId from, const StatePiece& piece);
  /// Everything has come.
  [[nodiscard]] bool is_whole(ProcessorId from, std::uint64_t offer, VnodeId vnode) const;
  /// The contents, which are not kept any more; none: not everything has come.
  [[nodiscard]] std::optional<std::vector<Payload>> take(ProcessorId from, std::uint64_t offer,
                                                         VnodeId vnode);
  void drop(ProcessorId from);
  void drop(ProcessorId from, std::uint64_t offer, VnodeId vnode);

  /// A vnode of which something has come, and not everything.
  struct Begun {
    ProcessorId from;
    std::uint64_t offer = 0;
    VnodeId vnode;
  };
  [[nodiscard]] std::vector<Begun> begun() const;

 private:
  struct Key {
    ProcessorId from;
    std::uint64_t offer = 0;
    VnodeId vnode;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Parcel {
    std::uint64_t next = 0;            ///< Number of the next piece.
    std::vector<std::uint64_t> sizes;  ///< Of all contents.
    std::vector<Payload> contents;     ///< Those that are complete.
    std::shared_ptr<std::byte[]> room;  ///< Of the one after these,
    std::size_t filled = 0;             ///< of which so much has come.
    [[nodiscard]] bool is_whole() const { return next > 0 && contents.size() == sizes.size(); }
  };

  static void close_contents(Parcel& parcel);
  /// Takes these bytes; or why not: some do not belong to it, or there is no memory.
  [[nodiscard]] static std::string append(Parcel& parcel, const Payload& bytes);

  std::map<Key, Parcel> parcels_;
};

}  // namespace phx::runtime
