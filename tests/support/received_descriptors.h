#pragma once

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "runtime/tcp/descriptor.h"

namespace phx::support {

/// Reads once from a UNIX socket, and gives the descriptors that came beside the bytes.
inline std::vector<tcp::Descriptor> received_descriptors(int socket) {
  constexpr std::size_t kMost = 8;
  std::array<std::byte, 1000> bytes{};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(kMost * sizeof(int))> beside{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = beside.data();
  message.msg_controllen = beside.size();
  REQUIRE(::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) > 0);
  std::vector<tcp::Descriptor> descriptors;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  if (rights == nullptr) return descriptors;
  std::array<int, kMost> came{};
  const std::size_t size = rights->cmsg_len - CMSG_LEN(0);
  REQUIRE(size <= sizeof(came));
  std::memcpy(came.data(), CMSG_DATA(rights), size);
  for (std::size_t i = 0; i < size / sizeof(int); ++i) descriptors.emplace_back(came.at(i));
  return descriptors;
}

}  // namespace phx::support
