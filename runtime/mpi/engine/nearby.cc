#include "runtime/mpi/engine/nearby.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <climits>
#include <new>
#include <utility>

namespace phx::mpi {
namespace {

constexpr std::size_t kLine = 64;  ///< of a cache
constexpr std::size_t kWords = Nearby::kMost / 64;
/// A pipe of which less was used begins where it is: that is in the caches.
constexpr std::size_t kUsedLeast = 2048;
/// What is packed into a pipe comes in parts of this share of it, and who waits for room is called
/// when half of it is free: so one packs while the other one unpacks.
constexpr std::size_t kPartsOfPipe = 4;
/// So much is written or read at once, while the other end keeps pace; then others have a turn: the
/// caller has the lock of its process, and may want to know whether something else is done.
constexpr std::size_t kAtOnce = std::size_t{1} << 20;

std::size_t room_of(int size) {
  const std::size_t share = (std::size_t{1} << 20) / static_cast<std::size_t>(size);
  return std::bit_floor(std::clamp<std::size_t>(share, 4096, 65536));
}

bool has_board(int size) {
  return size > 1 && size <= Board::kRanksMost;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* at_most) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, at_most,
                   nullptr, 0);
}

}  // namespace

/// Where a rank looks for news, and sleeps.
struct Nearby::Place {
  alignas(kLine) std::atomic<std::uint32_t> is_asleep;
  std::atomic<std::uint32_t> wakes;  ///< who sleeps here sleeps until it is another number
  std::atomic<std::int32_t> process;
  std::atomic<std::uint32_t> nudges;
  /// Bit r: rank r has put something into its pipe, or has made room in that towards it.
  alignas(kLine) std::array<std::atomic<std::uint64_t>, kWords> callers;

  /// Of several threads that sleep, or are about to, none misses it.
  void wake() {
    if (is_asleep == 0 || is_asleep.exchange(0) == 0) return;
    ++wakes;
    futex(wakes, FUTEX_WAKE, INT_MAX, nullptr);
  }
  [[nodiscard]] bool is_called() const {
    return std::any_of(callers.begin(), callers.end(), [](const auto& word) { return word != 0; });
  }
};

/// A pipe's counters; its bytes follow. They only grow.
struct Nearby::Pipe {
  alignas(kLine) std::atomic<std::uint64_t> written;  ///< by the sender
  std::atomic<std::uint64_t> origin;  ///< what stands first; set by the sender, when all is taken
  alignas(kLine) std::atomic<std::uint64_t> taken;  ///< by the receiver
  std::atomic<std::uint32_t> is_full;  ///< the sender is to be called when there is room

  [[nodiscard]] std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] std::size_t place(std::uint64_t at, std::size_t room) const {
    return (at - origin.load(std::memory_order_relaxed)) & (room - 1);
  }
  void put(std::uint64_t at, std::span<const std::byte> from, std::size_t room) {
    const std::size_t place = this->place(at, room);
    const std::size_t first = std::min(from.size(), room - place);
    // Not std::ranges::copy(), which GCC 12 makes a loop of bytes.
    std::copy_n(from.data(), first, bytes() + place);
    std::copy_n(from.data() + first, from.size() - first, bytes());
  }
  void get(std::uint64_t at, std::span<std::byte> into, std::size_t room) {
    const std::size_t place = this->place(at, room);
    const std::size_t first = std::min(into.size(), room - place);
    std::copy_n(bytes() + place, first, into.data());
    std::copy_n(bytes(), into.size() - first, into.data() + first);
  }
};

/// In front of each message.
struct Nearby::Frame {
  std::uint32_t bytes = 0;
  std::uint32_t tag = 0;
};

/// Bytes that are to be written, with the frame; of a source without those of its messages.
std::size_t Nearby::Waiting::size() const {
  return source.write ? source.bytes : sizeof(Frame) + payload.size();
}

// --- Memory ------------------------------------------------------------------------------------

std::size_t Nearby::bytes_for(int size) {
  return bytes_of_pipes(size) + (has_board(size) ? Board::bytes_for(size) : 0);
}

std::size_t Nearby::bytes_of_pipes(int size) {
  const auto ranks = static_cast<std::size_t>(size);
  return ranks * sizeof(Place) + ranks * ranks * (sizeof(Pipe) + room_of(size));
}

Nearby::Nearby(void* memory, int rank, int size)
    : memory_(static_cast<std::byte*>(memory)),
      rank_(rank),
      size_(size),
      room_(room_of(size)),
      begun_(static_cast<std::size_t>(size)),
      outgoing_(static_cast<std::size_t>(size)) {
  place(rank).process = ::getpid();
  if (has_board(size)) board_.emplace(memory_ + bytes_of_pipes(size), rank, size);
}

std::unique_ptr<Nearby> Nearby::open(int descriptor, int rank, int size) {
  const std::size_t bytes = bytes_for(size);
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return nullptr;
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // some systems ask for it; see read()
  return std::make_unique<Nearby>(memory, rank, size);
}

std::unique_ptr<Nearby> Nearby::alone() {
  constexpr int kOurs = MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory = ::mmap(nullptr, bytes_for(1), PROT_READ | PROT_WRITE, kOurs, -1, 0);
  return memory == MAP_FAILED ? nullptr : std::make_unique<Nearby>(memory, 0, 1);
}

Nearby::Place& Nearby::place(int rank) const {
  const auto number = static_cast<std::size_t>(rank);
  return *std::launder(reinterpret_cast<Place*>(memory_ + number * sizeof(Place)));
}

Nearby::Pipe& Nearby::pipe(int from, int to) const {
  const auto number = static_cast<std::size_t>(to * size_ + from);
  std::byte* const begin = memory_ + sizeof(Place) * static_cast<std::size_t>(size_);
  return *std::launder(reinterpret_cast<Pipe*>(begin + number * (sizeof(Pipe) + room_)));
}

bool Nearby::read(int from, std::uint64_t address, std::span<std::byte> into) {
  while (may_read_ && !into.empty()) {
    const iovec ours{into.data(), into.size()};
    const iovec theirs{reinterpret_cast<void*>(address), into.size()};
    const ssize_t got = ::process_vm_readv(place(from).process, &ours, 1, &theirs, 1, 0);
    if (got <= 0) may_read_ = false;
    if (got > 0) into = into.subspan(static_cast<std::size_t>(got));
    address += static_cast<std::uint64_t>(std::max<ssize_t>(got, 0));
  }
  return may_read_;
}

// --- Sending -----------------------------------------------------------------------------------

/// The order of all this counts: what is to be seen is written before the bit is set, and the bit
/// before we look whether somebody sleeps; who goes to sleep does it the other way round.
void Nearby::ring(Place& called, int caller) {
  const auto number = static_cast<std::size_t>(caller);
  called.callers[number / 64].fetch_or(std::uint64_t{1} << (number % 64));
  called.wake();
}

void Nearby::call(int rank) {
  ring(place(rank), rank_);
}

/// As if it had called.
void Nearby::come_back_to(int rank) {
  ring(place(rank_), rank);
}

void Nearby::send(int to, std::uint32_t tag, const Payload& payload) {
  if (outgoing_[static_cast<std::size_t>(to)].empty() && put(to, tag, payload)) return;
  wait_for_room(to, {tag, payload, 0});
}

void Nearby::send(int to, std::uint32_t tag, Source source) {
  if (source.bytes > 0) wait_for_room(to, {tag, {}, 0, std::move(source)});
}

void Nearby::wait_for_room(int to, Waiting message) {
  outgoing_[static_cast<std::size_t>(to)].push_back(std::move(message));
  ++waiting_;
  fill(to);
}

/// Whether there is room for so many bytes and their frame. A pipe in which nothing is begins anew,
/// so that its memory stays in the caches.
bool Nearby::make_room(Pipe& into, std::size_t bytes) {
  const std::uint64_t at = into.written.load(std::memory_order_relaxed);
  const std::uint64_t taken = into.taken;
  const bool is_used = into.place(at, room_) >= kUsedLeast;
  // Who reads what follows has seen `written` after this.
  if (taken == at && is_used) into.origin.store(at, std::memory_order_relaxed);
  return room_ - (at - taken) >= sizeof(Frame) + bytes;
}

/// The whole message, if there is room.
bool Nearby::put(int to, std::uint32_t tag, const Payload& payload) {
  Pipe& into = pipe(rank_, to);
  if (!make_room(into, payload.size())) return false;
  const std::uint64_t at = into.written.load(std::memory_order_relaxed);
  into.put(at + sizeof(Frame), payload.bytes(), room_);
  publish(to, {static_cast<std::uint32_t>(payload.size()), tag});
  return true;
}

/// In the pipe itself, if there is room in one piece.
std::byte* Nearby::room(int to, std::size_t bytes) {
  if (!outgoing_[static_cast<std::size_t>(to)].empty()) return nullptr;
  Pipe& into = pipe(rank_, to);
  if (!make_room(into, bytes)) return nullptr;
  const std::uint64_t at = into.written.load(std::memory_order_relaxed);
  const std::size_t place = into.place(at + sizeof(Frame), room_);
  return place + bytes <= room_ ? into.bytes() + place : nullptr;
}

/// Writes the frame in front of a message, and lets both be seen.
void Nearby::publish(int to, const Frame& frame) {
  Pipe& into = pipe(rank_, to);
  const std::uint64_t at = into.written.load(std::memory_order_relaxed);
  into.put(at, std::as_bytes(std::span(&frame, 1)), room_);
  into.written.store(at + sizeof(Frame) + frame.bytes, std::memory_order_release);
  call(to);
}

NearWays Nearby::ways() {
  return {.read = [this](int from, std::uint64_t address,
                         std::span<std::byte> into) { return read(from, address, into); },
          .room = [this](int to, std::size_t bytes) { return room(to, bytes); },
          .leave =
              [this](int to, std::size_t bytes) {
                publish(to, {static_cast<std::uint32_t>(bytes), 0});
              },
          .sent_most = std::clamp<std::size_t>(room_ / 4, 4096, 16384)};
}

/// As much as there is room for.
void Nearby::fill(int to) {
  std::deque<Waiting>& waiting = outgoing_[static_cast<std::size_t>(to)];
  Pipe& into = pipe(rank_, to);
  std::uint64_t at = into.written.load(std::memory_order_relaxed);
  std::uint64_t shown = at;
  const std::uint64_t most = at + kAtOnce;
  const auto show = [&] {
    if (at == shown) return;
    into.written.store(shown = at, std::memory_order_release);
    call(to);
  };
  while (!waiting.empty() && at < most) {
    Waiting& next = waiting.front();
    const std::size_t room = room_ - (at - into.taken);
    const std::size_t written =
        next.source.write ? write_part(into, at, room, next) : write_some(into, at, room, next);
    if (written == 0) {
      // Whoever makes room from now on sees this; who has made some before is seen here.
      show();
      if (into.is_full.exchange(1) == 0) continue;
      break;
    }
    at += written;
    if (next.source.write) show();  // The receiver unpacks it while the next part is written.
    if (next.sent < next.size()) continue;
    waiting.pop_front();
    --waiting_;
  }
  show();
  if (at >= most && !waiting.empty()) come_back_to(to);
}

/// Of a message with its frame, what there is room for. Returns the bytes written.
std::size_t Nearby::write_some(Pipe& into, std::uint64_t at, std::size_t room, Waiting& next) {
  if (room < sizeof(Frame) + (next.sent == 0 ? 1 : 0)) return 0;
  const std::uint64_t begin = at;
  if (next.sent == 0) {
    const Frame frame{static_cast<std::uint32_t>(next.payload.size()), next.tag};
    into.put(at, std::as_bytes(std::span(&frame, 1)), room_);
    at += sizeof(Frame);
    room -= sizeof(Frame);
    next.sent = sizeof(Frame);
  }
  const auto rest = next.payload.bytes().subspan(next.sent - sizeof(Frame));
  const auto part = rest.first(std::min(room, rest.size()));
  into.put(at, part, room_);
  next.sent += part.size();
  return at + part.size() - begin;
}

/// The next message of a source, if there is room for one of a good size. It lies in one piece, so
/// that it is unpacked where it lies.
std::size_t Nearby::write_part(Pipe& into, std::uint64_t at, std::size_t room, Waiting& next) {
  const std::size_t wanted = std::min(next.source.bytes - next.sent, room_ / kPartsOfPipe);
  if (room < sizeof(Frame) + wanted) return 0;
  const std::size_t place = into.place(at + sizeof(Frame), room_);
  const std::size_t bytes = std::min(wanted, room_ - place);
  const Frame frame{static_cast<std::uint32_t>(bytes), next.tag};
  into.put(at, std::as_bytes(std::span(&frame, 1)), room_);
  next.source.write(next.sent, {into.bytes() + place, bytes});
  next.sent += bytes;
  return sizeof(Frame) + bytes;
}

// --- Receiving ---------------------------------------------------------------------------------

bool Nearby::is_called() const {
  return place(rank_).is_called();
}

bool Nearby::receive(const OnMessage& on_message) {
  bool any = false;
  for (std::size_t word = 0; word * 64 < static_cast<std::size_t>(size_); ++word) {
    std::atomic<std::uint64_t>& callers = place(rank_).callers[word];
    if (callers.load(std::memory_order_relaxed) == 0) continue;
    any = true;
    for (std::uint64_t bits = callers.exchange(0); bits != 0; bits &= bits - 1) {
      const int from = static_cast<int>(word) * 64 + std::countr_zero(bits);
      empty(from, on_message);
      if (!outgoing_[static_cast<std::size_t>(from)].empty()) fill(from);
    }
  }
  return any;
}

void Nearby::empty(int from, const OnMessage& on_message) {
  Pipe& out = pipe(from, rank_);
  const auto tell_of_room = [&] {
    if (out.is_full != 0 && out.is_full.exchange(0) != 0) call(from);
  };
  const std::uint64_t most = out.taken.load(std::memory_order_relaxed) + kAtOnce;
  while (take(from, on_message)) {
    if (out.taken.load(std::memory_order_relaxed) >= most) {
      come_back_to(from);
      break;
    }
    if (out.written.load(std::memory_order_relaxed) - out.taken <= room_ / 2) tell_of_room();
  }
  tell_of_room();
}

/// Takes what there is of one message. Whether there may be more.
bool Nearby::take(int from, const OnMessage& on_message) {
  Pipe& out = pipe(from, rank_);
  Begun& begun = begun_[static_cast<std::size_t>(from)];
  std::uint64_t at = out.taken.load(std::memory_order_relaxed);
  std::size_t there = out.written.load(std::memory_order_acquire) - at;
  if (!begun.is_open) {
    if (there < sizeof(Frame)) return false;
    Frame frame;
    out.get(at, std::as_writable_bytes(std::span(&frame, 1)), room_);
    const std::size_t place = out.place(at + sizeof(Frame), room_);
    if (there >= sizeof(Frame) + frame.bytes && place + frame.bytes <= room_) {
      on_message(from, frame.tag, Payload(nullptr, {out.bytes() + place, frame.bytes}));
      out.taken.store(at + sizeof(Frame) + frame.bytes);
      return true;
    }
    at += sizeof(Frame);
    there -= sizeof(Frame);
    begun.is_open = true;
    begun.have = 0;
    begun.tag = frame.tag;
    begun.bytes.resize(frame.bytes);
  }
  const auto part = std::span(begun.bytes).subspan(begun.have);
  const std::size_t bytes = std::min(there, part.size());
  out.get(at, part.first(bytes), room_);
  begun.have += bytes;
  out.taken.store(at + bytes);
  if (begun.have < begun.bytes.size()) return bytes > 0;
  begun.is_open = false;
  const std::vector<std::byte> whole = std::exchange(begun.bytes, {});
  on_message(from, begun.tag, Payload(nullptr, whole));
  return true;
}

// --- Sleep -------------------------------------------------------------------------------------

bool Nearby::sleep(std::uint64_t seen, std::chrono::nanoseconds at_most) {
  Place& own = place(rank_);
  const std::uint32_t wakes = own.wakes;
  // It stays set if nobody wakes us: another thread may sleep, too, and to be woken in vain is
  // cheap.
  own.is_asleep = 1;
  if (own.is_called() || news() != seen) return true;
  const timespec time{static_cast<time_t>(at_most.count() / 1'000'000'000),
                      static_cast<long>(at_most.count() % 1'000'000'000)};
  return futex(own.wakes, FUTEX_WAIT, wakes, &time) == 0 || errno != ETIMEDOUT;
}

void Nearby::wake() {
  ++news_;
  place(rank_).wake();
}

/// In the order of ring().
void Nearby::nudge(int rank) {
  Place& called = place(rank);
  ++called.nudges;
  called.wake();
}

/// Whether it is another number than a moment ago is all that counts, so it may begin anew.
std::uint64_t Nearby::news() const {
  return news_ + place(rank_).nudges;
}

}  // namespace phx::mpi
