#include "runtime/tcp/ring.h"

#include <algorithm>
#include <cstring>

#include "overlay/base/check.h"

namespace phx::tcp {
namespace {

/// The reader gives room back in parts, so that the writer can go on meanwhile.
constexpr std::size_t kParts = 4;

/// Counts never end, so differences alone say something: `now` must be in [before, before + most].
bool can_be(std::uint64_t now, std::uint64_t before, std::uint64_t most) {
  return now - before <= most;
}

}  // namespace

Result<std::size_t> RingWriter::has_room(std::size_t wanted) {
  const auto room = [this] { return room_.size() - static_cast<std::size_t>(put_ - taken_); };
  if (room() >= wanted) return room();
  const std::uint64_t taken = lines_.taken.load(std::memory_order_acquire);
  if (!can_be(taken, taken_, shown_ - taken_)) {
    return Error{ErrorCode::kBadInput, "the reader of a ring says that it has taken " +
                                           std::to_string(taken) + " bytes of " +
                                           std::to_string(shown_)};
  }
  taken_ = taken;
  return room();
}

Result<std::size_t> RingWriter::put(std::span<const std::byte> bytes) {
  const Result<std::size_t> room = has_room(bytes.size());
  if (!room.ok()) return room.error();
  const std::size_t size = std::min(bytes.size(), room.value());
  if (size == 0) return size;
  const auto at = static_cast<std::size_t>(put_ & (room_.size() - 1));
  const std::size_t first = std::min(size, room_.size() - at);
  std::memcpy(room_.data() + at, bytes.data(), first);
  if (size > first) std::memcpy(room_.data(), bytes.data() + first, size - first);
  put_ += size;
  return size;
}

bool RingWriter::show() {
  if (has_shown_all()) return false;
  shown_ = put_;
  return set_and_see(lines_.written, shown_, lines_.reader_sleeps);
}

Result<std::span<const std::byte>> RingReader::peek() {
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  if (written_ == taken) {
    const std::uint64_t written = lines_.written.load(std::memory_order_acquire);
    if (!can_be(written, taken, room_.size())) {
      return Error{ErrorCode::kBadInput, "the writer of a ring of " + std::to_string(room_.size()) +
                                             " bytes says that it has written " +
                                             std::to_string(written) + ", of which " +
                                             std::to_string(taken) + " are taken"};
    }
    written_ = written;
  }
  const auto at = static_cast<std::size_t>(taken & (room_.size() - 1));
  const auto there = static_cast<std::size_t>(written_ - taken);
  return room_.subspan(at, std::min({there, room_.size() - at, room_.size() / kParts}));
}

bool RingReader::take(std::size_t size) {
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed) + size;
  PHX_CHECK(taken <= written_);
  taken_.store(taken, std::memory_order_relaxed);
  return set_and_see(lines_.taken, taken, lines_.writer_sleeps);
}

}  // namespace phx::tcp
