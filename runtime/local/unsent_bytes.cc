#include "runtime/local/unsent_bytes.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"

namespace phx::local {

void UnsentBytes::add(Bytes&& bytes) {
  if (bytes.size() <= kJoinBytes) {
    join(bytes);
    return;
  }
  size_ += bytes.size();
  chunks_.push_back({std::move(bytes), {}});
}

void UnsentBytes::add(const Payload& payload) {
  if (payload.size() <= kJoinBytes) {
    join(payload.bytes());
    return;
  }
  size_ += payload.size();
  chunks_.push_back({{}, payload});
}

void UnsentBytes::join(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  const bool has_room = !chunks_.empty() && !chunks_.back().own.empty() &&
                        chunks_.back().own.size() + bytes.size() <= kChunkBytes;
  if (!has_room) chunks_.push_back({});
  Bytes& own = chunks_.back().own;
  own.insert(own.end(), bytes.begin(), bytes.end());
}

std::vector<iovec> UnsentBytes::front() const {
  std::vector<iovec> parts;
  parts.reserve(std::min(chunks_.size(), kPartsMax));
  std::size_t skip = written_;
  for (const Chunk& chunk : chunks_) {
    if (parts.size() == kPartsMax) break;
    const auto rest = chunk.view().subspan(skip);
    // The system call only reads; its type is older than const.
    parts.push_back({const_cast<std::byte*>(rest.data()), rest.size()});
    skip = 0;
  }
  return parts;
}

void UnsentBytes::pop(std::size_t size) {
  PHX_CHECK(size <= size_);
  size_ -= size;
  written_ += size;
  while (!chunks_.empty() && written_ >= chunks_.front().view().size()) {
    written_ -= chunks_.front().view().size();
    chunks_.pop_front();
  }
}

}  // namespace phx::local
