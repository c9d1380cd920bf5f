#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/messages/local_messages.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/wire/codec.h"

namespace phx::tcp {
class EmbeddedDaemon;
}

namespace phx::local {

/// An application process's connection to its daemon over a UNIX socket and rings in shared memory
/// [README.md "Rings"], or to the daemon inside. It has no thread: bytes move in pump() and flush()
/// only. One owner; wait() and wake() on any thread; wait() for room: the owner.
///
/// Guarantees: messages arrive in order and whole, or the connection is lost. pump() reads also
/// while the daemon takes nothing, so two big senders cannot block each other.
class LocalLink {
 public:
  /// Not connected.
  LocalLink();
  /// Takes over a connected stream socket.
  explicit LocalLink(int socket);
  /// To the daemon inside this process, which must live longer: messages are handed over as they
  /// are.
  explicit LocalLink(tcp::EmbeddedDaemon& inside);
  ~LocalLink();
  LocalLink(LocalLink&&) noexcept;
  LocalLink& operator=(LocalLink&&) noexcept;
  LocalLink(const LocalLink&) = delete;
  LocalLink& operator=(const LocalLink&) = delete;

  /// Connects to the socket at `path`. kUnavailable: nobody listens there; kDenied: not ours.
  [[nodiscard]] static Result<LocalLink> connect(const std::string& path);

  /// Puts a message at the end of what is to be written. Payloads are shared, not copied.
  void queue(runtime::ToDaemon message);
  /// Writes and reads what is possible without waiting, and adds what came in to `received`.
  /// Errors close the link (kUnavailable: by the daemon; kBadInput: not our protocol).
  [[nodiscard]] Status pump(std::vector<runtime::ToApplication>& received);
  /// Only writes; what came in before an error is left for pump(), which says what is wrong.
  [[nodiscard]] Status flush();
  /// Waits until something has come, or also for room to write, or for the end of the link; or for
  /// wake(); at most so long. Whether there is something. REQUIRES a link that was connected.
  bool wait(bool also_for_room, Duration at_most) const;
  /// Ends a wait() of another thread, or the next one.
  void wake() const;

  /// Bytes queued and not yet written.
  [[nodiscard]] std::size_t unsent() const;
  /// All that could be written is; the rest waits for the daemon to give memory back, for which
  /// there is no signal: pump() again after kRetry. If there is none then, it goes without.
  [[nodiscard]] bool is_starving() const;
  static constexpr Duration kRetry = 1ms;
  /// Closes in good order: after the daemon has read everything, and closed its end, too. Takes at
  /// most so long; what still comes in is lost.
  void finish(Duration at_most);

 private:
  struct State;
  [[nodiscard]] bool is_open() const;
  [[nodiscard]] Status pump_inside(std::vector<runtime::ToApplication>& received);
  [[nodiscard]] Status flush_inside();
  void close();
  [[nodiscard]] Status write();
  void refill();
  [[nodiscard]] Status read(std::vector<runtime::ToApplication>& received);
  [[nodiscard]] Status read_socket(std::vector<runtime::ToApplication>& received);
  [[nodiscard]] Status read_ring(std::vector<runtime::ToApplication>& received);
  [[nodiscard]] Status look_at_socket(std::vector<runtime::ToApplication>& received);
  [[nodiscard]] Status take(std::span<const std::byte> bytes, bool is_from_ring,
                            std::vector<runtime::ToApplication>& received);
  void open_rings(std::vector<tcp::Descriptor> offered);
  void hush();
  [[nodiscard]] Status hand_on(std::vector<runtime::ToApplication>& received);
  void put(wire::Encoded&& encoded);

  std::unique_ptr<State> state_;
};

}  // namespace phx::local
