#include "runtime/tcp/rings.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/tcp/memory_file.h"

namespace phx::tcp {
namespace {

/// The words of both rings lie in the first page, then their bytes.
constexpr std::size_t kLinesAt = 1024;
constexpr std::size_t kRoomAt = 4096;
constexpr std::size_t kMappedBytes = kRoomAt + 2 * Rings::kRingBytes;
static_assert(sizeof(RingLines) <= kLinesAt && 2 * kLinesAt <= kRoomAt);
static_assert((Rings::kRingBytes & (Rings::kRingBytes - 1)) == 0);

/// What the payload of the mark says.
constexpr std::string_view kMark = "the ring";

enum Direction : std::size_t { kToDaemon = 0, kToApplication = 1 };

RingLines& lines_of(std::byte* memory, std::size_t direction) {
  return *reinterpret_cast<RingLines*>(memory + direction * kLinesAt);
}
std::span<std::byte> room_of(std::byte* memory, std::size_t direction) {
  return {memory + kRoomAt + direction * Rings::kRingBytes, Rings::kRingBytes};
}

std::byte* map_rings(int file) {
  void* memory = ::mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

Rings::Rings(End end, std::byte* memory)
    : memory_(memory),
      writer_(lines_of(memory, end == End::kDaemon ? kToApplication : kToDaemon),
              room_of(memory, end == End::kDaemon ? kToApplication : kToDaemon)),
      reader_(lines_of(memory, end == End::kDaemon ? kToDaemon : kToApplication),
              room_of(memory, end == End::kDaemon ? kToDaemon : kToApplication)) {}

Rings::~Rings() {
  ::munmap(memory_, kMappedBytes);
}

std::unique_ptr<Rings> Rings::make() {
  Descriptor file = make_memory_file("phoenix-rings", kMappedBytes);
  Descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return nullptr;
  Descriptor read_end(pipe[0]);
  Descriptor write_end(pipe[1]);
  if (!file.is_open() || !bell.is_open()) return nullptr;
  std::byte* const memory = map_rings(file.get());
  if (memory == nullptr) return nullptr;
  std::unique_ptr<Rings> rings(new Rings(End::kDaemon, memory));
  rings->file_ = std::move(file);
  rings->own_bell_ = std::move(bell);
  rings->application_bell_ = std::move(read_end);
  rings->other_bell_ = std::move(write_end);
  return rings;
}

std::unique_ptr<Rings> Rings::open(std::vector<Descriptor> offered) {
  if (offered.size() != kOffered || !is_memory_file(offered[0], kMappedBytes)) return nullptr;
  std::byte* const memory = map_rings(offered[0].get());
  if (memory == nullptr) return nullptr;
  std::unique_ptr<Rings> rings(new Rings(End::kApplication, memory));
  rings->is_offered_ = true;
  rings->own_bell_ = std::move(offered[1]);
  rings->other_bell_ = std::move(offered[2]);
  return rings;
}

void Rings::move(Outgoing& queue) {
  const Payload payload = Payload::copy_of(kMark);
  Bytes prefix(wire::kPrefixBytes);
  const auto family =
      application_bell_.is_open() ? wire::Family::kToApplication : wire::Family::kToDaemon;
  wire::write_prefix({.family = family,
                      .payload_size = payload.size(),
                      .header_check = wire::check_of({}),
                      .is_reference = true},
                     prefix);
  queue.add(std::move(prefix));
  queue.add(payload);
  before_ring_ = queue.bytes();
}

bool Rings::is_mark(const Payload& payload) {
  return payload.text() == kMark;
}

Status Rings::on_mark() {
  if (is_reading_ || !is_offered_) {
    return Error{ErrorCode::kBadInput, "the way through a ring, where there is none"};
  }
  is_reading_ = true;
  return success();
}

bool Rings::put(const wire::Encoded& message) {
  if (!is_writing_) return false;
  const std::size_t size = message.size();
  const Result<std::size_t> room = writer_.has_room(size);
  if (!room.ok() || room.value() < size) return false;
  // Whoever lies from here on is found out by write().
  static_cast<void>(writer_.put(message.head));
  for (const Payload& payload : message.tail) static_cast<void>(writer_.put(payload.bytes()));
  return true;
}

int Rings::write(Outgoing& queue, int socket) {
  if (!is_writing_) return write_to_socket(queue, socket);
  bool is_full = false;
  while (!queue.empty() && !is_full) {
    const std::span<const std::byte> bytes = queue.first();
    const Result<std::size_t> written = writer_.put(bytes);
    if (!written.ok()) return EPROTO;
    is_full = written.value() < bytes.size();
    queue.pop(written.value());
  }
  if (writer_.show()) ring();
  if (!is_full) return 0;
  if (writer_.may_sleep()) return EAGAIN;
  const Result<std::size_t> room = writer_.has_room(1);
  return room.ok() && room.value() > 0 ? 0 : EPROTO;
}

int Rings::write_to_socket(Outgoing& queue, int socket) {
  if (queue.empty()) return 0;
  const std::size_t before = queue.bytes();
  const std::array<int, kOffered> offer{file_.get(), application_bell_.get(), own_bell_.get()};
  const std::size_t most = before_ring_ > 0 ? before_ring_ : Outgoing::kAll;
  int error = queue.write_to(socket, most, is_offered_ ? std::span<const int>() : offer);
  if (error == EAGAIN || error == EWOULDBLOCK) return EAGAIN;
  if (error != 0 && !is_offered_) error = queue.write_to(socket, most);  // then without
  is_offered_ = true;
  file_.reset();
  if (error != 0 || before_ring_ == 0) return error;
  before_ring_ -= before - queue.bytes();
  is_writing_ = before_ring_ == 0;
  return 0;
}

void Rings::take(std::size_t size) {
  if (reader_.take(size)) ring();
}

void Rings::discard() {
  std::size_t left = kRingBytes;
  while (left > 0) {
    const auto bytes = reader_.peek();
    if (!bytes.ok() || bytes.value().empty()) return;
    take(bytes.value().size());
    left -= std::min(left, bytes.value().size());
  }
}

void Rings::ring() const {
  // A bell that takes no more rings already.
  const std::uint64_t once = 1;
  static_cast<void>(!::write(other_bell_.get(), &once, sizeof(once)));
}

void Rings::hush() const {
  std::array<std::byte, 256> rings;
  static_cast<void>(!::read(own_bell_.get(), rings.data(), rings.size()));
}

}  // namespace phx::tcp
