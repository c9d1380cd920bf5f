#pragma once

#include <asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/loop.h"
#include "runtime/tcp/outgoing.h"
#include "runtime/tcp/payload_ways.h"
#include "runtime/wire/codec.h"
#include "runtime/wire/framing.h"

namespace phx::tcp {

/// One stream of frames in both directions, over TCP or a UNIX socket, once both sides know each
/// other. Reads the payload of a long frame straight to where it will stay, and many short frames
/// with one system call; writes many frames with one system call, sharing payloads.
/// Owned by shared_ptr: it keeps itself alive while it drains. Handlers are never called from
/// within one of its functions. Not thread-safe: as the loop.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Handlers {
    // All but the last are to be given. They must not own the connection.
    /// An error ends the connection.
    std::function<Status(std::span<const std::byte> header, Payload payload)> on_frame;
    /// After the frames that came together.
    std::function<void()> on_batch_end;
    /// The connection is over, by the peer, by an error, or drained: the last call. Not after
    /// close(). kUnavailable: closed by the peer.
    std::function<void(const Error&)> on_closed;
    /// Part of a long frame came in or went out.
    std::function<void()> on_part = {};
    /// All that was sent before so many calls of mark() is in the hands of the system.
    std::function<void(std::size_t marks)> on_drained = {};
  };

  /// How long a drained connection waits for the peer to close its end, and how long draining may
  /// take in all.
  static constexpr Duration kLinger = 1s;
  static constexpr Duration kDrainTimeout = 3s;
  /// What is sent so soon after a flush() belongs to a burst, up to so many bytes.
  static constexpr Duration kBurst = 20us;
  static constexpr std::size_t kBurstBytes = std::size_t{8} << 10U;

  /// `family`: of what the peer sends. `loop` must live until the connection is closed.
  Connection(Loop& loop, Descriptor socket, wire::Family family, ReadBuffer& shared,
             Handlers handlers, PayloadWays ways = {});

  void start();  ///< Begins to read.
  /// Queues a frame. Nothing is written before flush(). One that the peer would refuse for its
  /// size ends the connection (kLimit).
  void send(wire::Encoded&& encoded);
  /// The same for a message that is short, and of a frequent kind; false: it is none.
  template <class Message>
  [[nodiscard]] bool send_short(const Message& message) {
    if (state_ != State::kOpen || is_mute_) return true;
    return queue_.append(
        [&message](Bytes& to) { return wire::append_short(message, Outgoing::kJoinBytes, to); });
  }
  /// Writes what the socket takes now; the rest follows by itself.
  void flush();
  /// Something was written a moment ago, and little has come since: it may wait for more of a
  /// burst.
  [[nodiscard]] bool is_in_burst(Instant now) const {
    return now - flushed_at_ < kBurst && queue_.bytes() < kBurstBytes;
  }
  /// Asks for on_drained(), once for each.
  void mark() { marks_.push_back(written_ + queue_.bytes()); }
  /// While paused, the peer blocks once the socket's buffers are full.
  void pause_reading(bool paused);
  /// At once. What is queued is lost. fail() reports `why` through on_closed, close() nothing.
  void close();
  void fail(const Error& why) { become_closed(why); }
  /// After what is queued was written. Frames of the peer are ignored from now on.
  void close_after_drain();

  [[nodiscard]] bool is_open() const { return state_ == State::kOpen; }
  /// errno, if the network, or a peer that had not read all, has ended it; 0: the peer closed it.
  [[nodiscard]] int broken_by() const { return broken_by_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] std::size_t queued_bytes() const { return queue_.bytes(); }
  /// All that was sent has come to the peer's machine, so it is there even if this end goes away.
  [[nodiscard]] bool has_arrived();
  /// Long payloads may go past the socket: those to come are best put into the process's pool.
  [[nodiscard]] bool lends() const { return loans_ && loans_->pool() != nullptr; }
  /// See Loans::forget_the_dead().
  void forget_the_dead();

 private:
  /// kOpen -> kDraining -> kLingering (our end is shut down) -> kClosed; any -> kClosed.
  enum class State { kOpen, kDraining, kLingering, kClosed };

  void watch();
  void on_ready(Loop::Ready ready);
  void on_readable();
  void read_once();
  [[nodiscard]] Status take(std::size_t size, std::size_t direct);
  [[nodiscard]] Status consume(std::span<const std::byte> bytes, bool is_from_ring);
  [[nodiscard]] bool reads_ring() const { return rings_ && rings_->is_reading(); }
  [[nodiscard]] Status on_mark();
  void on_bell();
  void ring_later();
  void read_ring();
  void on_socket_end();
  void end_reading();
  [[nodiscard]] Status hand_on();
  [[nodiscard]] Status on_reference(const Payload& reference);
  void put(wire::Encoded&& encoded);
  void put_controls();
  void discard();
  void report_part(bool is_within_frame);
  void report_drained();
  void on_write_error(const Error& error);
  void become_lingering();
  void become_closed(const Error& error);

  Loop& loop_;
  Descriptor socket_;
  std::optional<Loop::Watch> watch_;
  std::unique_ptr<Loans> loans_;
  std::unique_ptr<Rings> rings_;
  std::optional<Loop::Watch> bell_;  ///< Of the rings, once it reads there.
  std::optional<Error> end_;         ///< Of the socket: to be reported when the ring is empty.
  wire::FrameReader reader_;
  ReadBuffer& shared_;
  Handlers handlers_;
  Outgoing queue_;
  std::uint64_t written_ = 0;  ///< Bytes so far.
  Instant flushed_at_{};
  std::vector<std::uint64_t> marks_;  ///< When so many are, on_drained() follows.
  std::size_t passed_ = 0;            ///< Of them, not reported yet.
  asio::steady_timer timer_;          ///< Limits draining and lingering.
  State state_ = State::kOpen;
  bool is_silent_ = false;  ///< close() was called: no report.
  bool paused_ = false;
  bool is_started_ = false;  ///< It reads.
  bool awaits_writing_ = false;
  int broken_by_ = 0;
  bool is_mute_ = false;  ///< The peer takes nothing any more; what it has sent is still read.
};

}  // namespace phx::tcp
