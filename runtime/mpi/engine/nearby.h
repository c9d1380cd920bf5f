#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "overlay/base/payload.h"
#include "runtime/mpi/engine/board.h"

namespace phx::mpi {

/// What is possible between ranks of one machine, beside sending messages. All may be empty.
struct NearWays {
  /// Copies memory of another process. False: it cannot be read.
  std::function<bool(int from, std::uint64_t address, std::span<std::byte> into)> read{};
  /// Where a message of so many bytes is to be written, all of it at once; then it leaves. Null: it
  /// has to be sent.
  std::function<std::byte*(int to, std::size_t bytes)> room{};
  std::function<void(int to, std::size_t bytes)> leave{};
  /// A message with more bytes is read by its receiver, if there is `read`, and not sent.
  std::size_t sent_most = std::size_t{16} << 10U;
};

/// Bytes that are written only when there is room for them, in order, each once.
struct Source {
  std::size_t bytes = 0;
  std::function<void(std::size_t from, std::span<std::byte> into)> write;
};

/// Memory that all ranks of a job on one machine share: a pipe of bytes from each to each, and for
/// each a place to sleep at. Layout and rules: README.md, "Near ranks". Thread rule: one owner, but
/// for sleep(), wake() and news().
///
/// Guarantees: what one rank sends to another one comes whole, once, and in order; who sleeps is
/// woken by what comes.
class Nearby {
 public:
  /// More ranks than these share no memory: the pipes would be many, and short.
  static constexpr int kMost = 256;
  /// What came; the bytes are valid until the function returns.
  using OnMessage = std::function<void(int from, std::uint32_t tag, const Payload& lent)>;

  [[nodiscard]] static std::size_t bytes_for(int size);
  /// Memory of bytes_for(size) that began as zeros, and that lives longer. REQUIRES size <= kMost.
  Nearby(void* memory, int rank, int size);
  /// The same in a file of memory that all ranks have open. Null: it cannot be mapped.
  [[nodiscard]] static std::unique_ptr<Nearby> open(int descriptor, int rank, int size);
  /// Of a job of one rank, whose threads sleep and are woken here. Null: there is no memory.
  [[nodiscard]] static std::unique_ptr<Nearby> alone();

  /// What there is no room for leaves with later calls of send() and receive().
  void send(int to, std::uint32_t tag, const Payload& payload);
  /// The same for bytes that come as several messages, as long as there is room for in one piece.
  void send(int to, std::uint32_t tag, Source source);
  /// For users that know nothing else of it. Valid as long as this lives; messages have tag 0.
  [[nodiscard]] NearWays ways();
  /// There is something for receive().
  [[nodiscard]] bool is_called() const;
  /// Calls the function for each message that is there. Whether there was anything.
  bool receive(const OnMessage& on_message);
  /// Nothing waits for room.
  [[nodiscard]] bool is_sent() const { return waiting_ == 0; }
  /// Copies memory of another rank's process. False: the system does not let us.
  bool read(int from, std::uint64_t address, std::span<std::byte> into);

  /// What all show each other; null: there is one rank, or too many.
  [[nodiscard]] Board* board() { return board_ ? &*board_ : nullptr; }
  /// What may be new to a rank is no message: it is woken. Thread rule: any thread.
  void nudge(int rank);

  /// Counts calls of wake(), and of nudge() for this rank.
  [[nodiscard]] std::uint64_t news() const;
  /// Until something comes, or news() is not `seen` any more; at most so long. False: it was so
  /// long.
  bool sleep(std::uint64_t seen, std::chrono::nanoseconds at_most);
  /// Ends every sleep() of this process.
  void wake();

 private:
  struct Place;
  struct Pipe;
  struct Frame;
  /// What has come of a message of which not all was there at once.
  struct Begun {
    std::uint32_t tag = 0;
    std::size_t have = 0;
    std::vector<std::byte> bytes;
    bool is_open = false;
  };
  struct Waiting {
    std::uint32_t tag = 0;
    Payload payload;
    std::size_t sent = 0;  ///< with its frame; of a source without
    Source source{};       ///< if there is one
    [[nodiscard]] std::size_t size() const;
  };

  [[nodiscard]] static std::size_t bytes_of_pipes(int size);
  [[nodiscard]] Place& place(int rank) const;
  [[nodiscard]] Pipe& pipe(int from, int to) const;
  static void ring(Place& called, int caller);
  void call(int rank);
  void come_back_to(int rank);
  [[nodiscard]] bool make_room(Pipe& into, std::size_t bytes);
  [[nodiscard]] std::byte* room(int to, std::size_t bytes);
  void publish(int to, const Frame& frame);
  bool put(int to, std::uint32_t tag, const Payload& payload);
  void wait_for_room(int to, Waiting message);
  void fill(int to);
  std::size_t write_some(Pipe& into, std::uint64_t at, std::size_t room, Waiting& next);
  std::size_t write_part(Pipe& into, std::uint64_t at, std::size_t room, Waiting& next);
  void empty(int from, const OnMessage& on_message);
  bool take(int from, const OnMessage& on_message);

  std::byte* const memory_;
  const int rank_;
  const int size_;
  const std::size_t room_;  ///< bytes of each pipe, a power of two
  std::vector<Begun> begun_;
  std::vector<std::deque<Waiting>> outgoing_;
  std::size_t waiting_ = 0;  ///< messages in `outgoing_`
  bool may_read_ = true;
  std::atomic<std::uint64_t> news_ = 0;
  std::optional<Board> board_;
};

}  // namespace phx::mpi
