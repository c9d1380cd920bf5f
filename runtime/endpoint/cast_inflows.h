#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "runtime/endpoint/endpoint_config.h"
#include "runtime/endpoint/inflows.h"
#include "runtime/endpoint/shared_payloads.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// Of a broadcast all vnodes of a process share the contents.
[[nodiscard]] inline bool is_shared(const Message& message) {
  return message.kind == Message::Kind::kBroadcast || message.kind == Message::Kind::kAllreduced;
}

[[nodiscard]] inline SharedPayloads::Key key_of(const Message& shared) {
  return {shared.from, shared.kind == Message::Kind::kAllreduced, shared.number};
}

/// The receiving ends of the broadcasts to this process: one per root, whatever the number of
/// vnodes held here, since these share what comes. Credit, windows and refusals are those of
/// Inflows; how far each vnode has come, the caller knows. Not thread-safe: one owner.
class CastInflows {
 public:
  using Stream = VnodeBundle::Inbound;
  /// What the root is to hear, for each vnode with its own number.
  struct Announcement {
    std::uint64_t limit = 0;
    bool again = false;  ///< Something is missing.
  };

  explicit CastInflows(const InflowOptions& options);

  /// Bytes that wait in this process.
  struct Load {
    std::uint64_t all = 0;    ///< Of all messages.
    std::uint64_t begun = 0;  ///< Of these, of long ones of this root, as far as put together.
  };

  // Inputs.
  void on_time(Instant now) { flows_.on_time(now); }
  /// Whether `piece` may come in. If not it will be asked for again. `is_next`: a vnode expects it.
  [[nodiscard]] bool admits(const collectives::BroadcastPiece& piece, bool is_next,
                            const Load& waiting);
  /// A vnode has come so far; `untaken`: so many bytes more wait in complete messages.
  void on_piece(VnodeId root, Stream& stream, std::uint64_t untaken);
  /// So many of these bytes are needed by no vnode any more.
  void on_taken(VnodeId root, std::uint64_t bytes);
  /// What waits here: messages in mailboxes; pieces of those that are not complete.
  [[nodiscard]] SharedPayloads& broadcasts() { return broadcasts_; }
  [[nodiscard]] SharedPayloads& pieces() { return pieces_; }
  void add_pieces(VnodeId root, const Stream& stream);
  void remove_pieces(VnodeId root, const Stream& stream);
  /// A vnode came with this stream.
  void add(VnodeId root, Stream& stream, std::uint64_t untaken);
  /// Writes what goes with a vnode into its stream. Whether something is missing there.
  [[nodiscard]] bool remove(VnodeId root, Stream& stream);

  // Commands.
  /// Tells the root how far all are.
  void announce(VnodeId root) { announced_.try_emplace(root, false); }
  /// There is room again beside `waiting` bytes: those that were refused go on.
  void reopen(std::uint64_t waiting);
  /// A call waits in vain for broadcasts of `from`, or of anybody. False: up to a limit.
  [[nodiscard]] bool want(std::optional<VnodeId> from);
  void forget_wanted() { flows_.forget_wanted(); }
  [[nodiscard]] std::map<VnodeId, Announcement> take_announcements();

  // Queries.
  [[nodiscard]] bool has_announcements() const {
    return !announced_.empty() || flows_.has_credits();
  }
  [[nodiscard]] bool is_held_up() const { return flows_.is_held_up(); }  ///< reopen() may help.
  [[nodiscard]] std::uint64_t limit(VnodeId root) const;
  /// Number of the next piece for those who are farthest.
  [[nodiscard]] std::uint64_t next(VnodeId root) const;
  [[nodiscard]] bool is_refused(VnodeId root) const { return flows_.is_refused(key(root)); }
  /// Roots that may wait for credit from here.
  [[nodiscard]] std::vector<VnodeId> held_up() const;
  [[nodiscard]] std::uint64_t bytes() const { return broadcasts_.bytes() + pieces_.bytes(); }

 private:
  struct Root {
    Stream stream;  ///< Numbers, offsets and credit of those who are farthest.
    std::optional<std::uint64_t> missed;  ///< Came ahead when there was little room.
  };
  [[nodiscard]] static Inflows::Key key(VnodeId root) { return {VnodeId{0}, root}; }
  void grant(const std::vector<Inflows::Key>& keys);

  InflowOptions options_;
  Inflows flows_;  ///< The receiver in all keys is v0.
  std::map<VnodeId, Root> roots_;
  std::map<VnodeId, bool> announced_;  ///< Whether something is missing.
  SharedPayloads broadcasts_;
  SharedPayloads pieces_;
};

}  // namespace phx::runtime
