#include "runtime/tcp/outgoing.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "overlay/base/check.h"

namespace phx::tcp {

void Outgoing::add(Bytes&& bytes) {
  const bool is_first = chunks_.empty() && !bytes.empty();  // then it may be the chunk itself
  if (bytes.size() <= kJoinBytes && !is_first) {
    join(bytes);
    return;
  }
  bytes_ += bytes.size();
  chunks_.push_back(Chunk{std::move(bytes), {}});
}

void Outgoing::add(const Payload& payload) {
  if (payload.size() <= kJoinBytes) {
    join(payload.bytes());
    return;
  }
  bytes_ += payload.size();
  chunks_.push_back(Chunk{{}, payload});
}

void Outgoing::join(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  bytes_ += bytes.size();
  Bytes* own = joint_with_room(bytes.size());
  if (own == nullptr) own = &chunks_.emplace_back(Chunk{std::exchange(spare_, {}), {}}).own;
  own->insert(own->end(), bytes.begin(), bytes.end());
}

Bytes* Outgoing::joint_with_room(std::size_t bytes) {
  if (chunks_.empty()) return nullptr;
  Bytes& own = chunks_.back().own;
  return own.empty() || own.size() + bytes > kChunkBytes ? nullptr : &own;
}

Outgoing::Gathered Outgoing::front() const {
  Gathered gathered;
  std::size_t skip = written_;
  for (const Chunk& chunk : chunks_) {
    if (gathered.count == kPartsMax) break;
    const auto rest = chunk.view().subspan(skip);
    // The system call only reads; its type is older than const.
    gathered.parts[gathered.count++] = {const_cast<std::byte*>(rest.data()), rest.size()};
    skip = 0;
  }
  return gathered;
}

/// Leaves the first `most` bytes.
void Outgoing::Gathered::cut(std::size_t most) {
  for (std::size_t i = 0; i < count; ++i) {
    if (parts.at(i).iov_len >= most) {
      parts.at(i).iov_len = most;
      count = i + 1;
      return;
    }
    most -= parts.at(i).iov_len;
  }
}

int Outgoing::write_to(int socket, std::size_t most, std::span<const int> descriptors) {
  Gathered gathered = front();
  if (most < bytes_) gathered.cut(most);
  msghdr message{};
  message.msg_iov = gathered.parts.data();
  message.msg_iovlen = gathered.count;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(kDescriptorsMax * sizeof(int))> beside{};
  if (!descriptors.empty()) {
    PHX_CHECK(descriptors.size() <= kDescriptorsMax);
    message.msg_control = beside.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t size = -1;
  do {
    size = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return errno;
  pop(static_cast<std::size_t>(size));
  return 0;
}

void Outgoing::pop(std::size_t size) {
  PHX_CHECK(size <= bytes_);
  bytes_ -= size;
  written_ += size;
  while (!chunks_.empty() && written_ >= chunks_.front().view().size()) {
    written_ -= chunks_.front().view().size();
    if (Bytes& own = chunks_.front().own; own.capacity() <= kSpareBytes) {
      own.clear();
      spare_ = std::move(own);
    }
    chunks_.pop_front();
  }
}

void Outgoing::clear() {
  chunks_.clear();
  written_ = 0;
  bytes_ = 0;
}

}  // namespace phx::tcp
