#include "runtime/heard_size.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace phx::runtime::heard_size_test {
namespace {

constexpr std::uint64_t kKiB = 1024;

Envelope piece(std::size_t bytes, std::uint64_t rest) {
  PointToPoint piece;
  piece.rest = rest;
  piece.payload = Payload(Bytes(bytes));
  return VnodeMessage{JobId{1}, 0, std::move(piece)};
}

}  // namespace

TEST_SUITE_BEGIN("runtime/heard_size");

TEST_CASE(
    "parts of long messages count with their contents, short ones and other parts of jobs do not") {
  CHECK(heard_size(piece(64 * kKiB, 0)) == 64 * kKiB);
  CHECK(heard_size(piece(256 * kKiB, 768 * kKiB)) == 256 * kKiB);
  CHECK(heard_size(piece(4 * kKiB, 60 * kKiB)) == 4 * kKiB);
  CHECK(heard_size(piece(4 * kKiB, 0)) == 0);
  CHECK(heard_size(VnodeMessage{JobId{1}, 0, FlowCredit{}}) == 0);
  CHECK(heard_size(Heartbeat{}) == 0);
}

TEST_SUITE_END();

}  // namespace phx::runtime::heard_size_test
