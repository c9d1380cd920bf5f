#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/wire/families.h"

namespace phx::wire::records_test {
namespace {

using runtime::FlowCredit;
using runtime::Frame;
using runtime::PointToPoint;
using runtime::ToApplication;
using runtime::ToDaemon;
using runtime::VnodeMessage;

PointToPoint piece(std::uint64_t rest = 0) {
  return {.from = VnodeId{7},
          .to = VnodeId{300},
          .seq = 9,
          .tag = 1,
          .rest = rest,
          .payload = Payload::copy_of("hi")};
}

FlowCredit credit(std::optional<std::uint64_t> again = std::nullopt) {
  return {.from = VnodeId{1},
          .to = VnodeId{2},
          .received = 3,
          .limit = 0x0405,
          .again = again,
          .reduced = std::numeric_limits<std::uint64_t>::max()};
}

Frame frame_of(VnodeMessage message) {
  return Frame{5, 3, std::move(message)};
}

/// The header of `message` byte by byte: the layout that the document describes.
template <class Top>
std::vector<unsigned> header_bytes(const Top& message) {
  Encoder encoder;
  const Encoded encoded = encoder.encode(message);
  std::vector<unsigned> bytes;
  for (const std::byte byte : header_of(encoded)) bytes.push_back(std::to_integer<unsigned>(byte));
  return bytes;
}

using Layout = std::vector<unsigned>;
const Layout kPieceLayout{7, 0, 0, 0, 0x2c, 1, 0, 0, 9, 0, 0, 0, 0, 0,
                          0, 0, 1, 0, 0,    0, 0, 0, 0, 0, 2, 0, 0, 0};
const Layout kCreditLayout{1, 0, 0, 0, 2,    0,    0,    0,    3,    0,    0,    0,   0, 0,
                           0, 0, 5, 4, 0,    0,    0,    0,    0,    0,    8,    0,   0, 0,
                           0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

Layout joined(Layout first, const Layout& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

template <class Top>
bool comes_back(const Top& message) {
  Encoder encoder;
  Decoder decoder;
  const Encoded encoded = encoder.encode(message);
  const auto decoded = FamilyOf<Top>::decode(decoder, header_of(encoded), payload_of(encoded));
  return decoded.ok() && decoded.value() == message;
}

/// Why these bytes are refused; empty: they are not.
template <class Top>
std::string refusal(const Bytes& header, const Payload& payload) {
  Decoder decoder;
  const auto decoded = FamilyOf<Top>::decode(decoder, header, payload);
  return decoded.ok() ? "" : decoded.error().what;
}

template <class Top>
void check_refusals(const Top& message) {
  Encoder encoder;
  const Encoded encoded = encoder.encode(message);
  const Payload payload = payload_of(encoded);
  const Bytes good(header_of(encoded).begin(), header_of(encoded).end());
  REQUIRE(refusal<Top>(good, payload).empty());
  for (std::size_t size = 1; size < good.size(); ++size) {
    CAPTURE(size);
    const Bytes shorter(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(refusal<Top>(shorter, payload).empty());
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  CHECK(refusal<Top>(longer, payload) == "a record of a wrong size");
  Bytes unknown = good;
  unknown[1] = std::byte{99};
  CHECK(refusal<Top>(unknown, payload) == "a record of an unknown kind");
  for (const std::size_t reserved : {std::size_t{2}, std::size_t{3}}) {
    Bytes used = good;
    used[reserved] = std::byte{1};
    CHECK(refusal<Top>(used, payload) == "a message with a bad field: the beginning of the record");
  }
}

}  // namespace

TEST_SUITE_BEGIN("wire/records");

TEST_CASE("records are laid out as the document says") {
  const Layout frame{0, 1, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0,
                     0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0};
  Layout credit_frame = frame;
  credit_frame[1] = 2;
  CHECK(header_bytes(frame_of({JobId{1}, 2, piece()})) == joined(frame, kPieceLayout));
  CHECK(header_bytes(frame_of({JobId{1}, 2, credit(7)})) == joined(credit_frame, kCreditLayout));
  CHECK(header_bytes(ToDaemon(runtime::AppSend{piece()})) == joined({0, 1, 0, 0}, kPieceLayout));
  CHECK(header_bytes(ToDaemon(runtime::AppFlow{credit(7)})) == joined({0, 2, 0, 0}, kCreditLayout));
  CHECK(header_bytes(ToDaemon(runtime::AppAck{0x0102})) ==
        Layout{0, 3, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0});
  CHECK(header_bytes(ToApplication(runtime::AppDeliver{4, piece()})) ==
        joined({0, 1, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0}, kPieceLayout));
  CHECK(header_bytes(ToApplication(runtime::AppDeliver{4, credit(7)})) ==
        joined({0, 2, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0}, kCreditLayout));
}

TEST_CASE("a short message is appended as it would be encoded, or not at all") {
  const auto check = [](const auto& message, std::size_t most, bool is_short) {
    Bytes bytes(3, std::byte{1});  // what is there stays
    const Bytes before = bytes;
    REQUIRE(append_short(message, most, bytes) == is_short);
    Encoder encoder;
    const Encoded encoded = encoder.encode(message);
    Bytes wanted = before;
    if (is_short) {
      wanted.insert(wanted.end(), encoded.head.begin(), encoded.head.end());
      for (const Payload& part : encoded.tail) {
        wanted.insert(wanted.end(), part.bytes().begin(), part.bytes().end());
      }
    }
    CHECK(bytes == wanted);
  };
  const Frame frame = frame_of({JobId{1}, 4, piece()});
  check(frame, 2, true);
  check(frame, 1, false);  // The payload is longer.
  check(frame_of({JobId{1}, 4, credit()}), 0, true);
  check(Frame{5, 3, runtime::Heartbeat{}}, 100, false);
  check(ToDaemon{runtime::AppSend{piece()}}, 2, true);
  check(ToDaemon{runtime::AppClosing{}}, 2, false);
  check(ToApplication{runtime::AppDeliver{1, piece()}}, 2, true);
  check(ToApplication{runtime::AppRetire{}}, 2, false);
}

TEST_CASE("what does not fit into a record goes as it can, and comes back") {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 32U;
  const std::vector<Frame> frames{frame_of({JobId{1}, 2, piece(kLarge)}),
                                  frame_of({JobId{1}, kLarge, piece()}),
                                  frame_of({JobId{1}, kLarge, credit()})};
  for (const Frame& frame : frames) {
    CHECK(header_bytes(frame).front() != 0);
    CHECK(comes_back(frame));
  }
  CHECK(header_bytes(ToDaemon(runtime::AppSend{piece(kLarge)})).front() != 0);
  CHECK(comes_back(ToDaemon(runtime::AppSend{piece(kLarge)})));
  Frame detour = frame_of({JobId{1}, 2, piece()});
  detour.passage = runtime::Passage{ProcessorId{1}, ProcessorId{2}, 3, {}};
  CHECK(header_bytes(detour).front() != 0);
  CHECK(comes_back(detour));
}

TEST_CASE("records of a wrong size or kind are refused, by all families") {
  check_refusals(frame_of({JobId{1}, 2, piece()}));
  check_refusals(frame_of({JobId{1}, 2, credit()}));
  check_refusals(ToDaemon(runtime::AppSend{piece()}));
  check_refusals(ToDaemon(runtime::AppFlow{credit()}));
  check_refusals(ToDaemon(runtime::AppAck{1}));
  check_refusals(ToApplication(runtime::AppDeliver{1, piece()}));
  check_refusals(ToApplication(runtime::AppDeliver{1, credit()}));
}

TEST_CASE("a vnode that no job has, and a payload where none belongs, are refused") {
  Encoder encoder;
  const Encoded send = encoder.encode(ToDaemon(runtime::AppSend{piece()}));
  for (const auto& [highest, field] : {std::pair(7, "from"), std::pair(11, "to")}) {
    Bytes header(header_of(send).begin(), header_of(send).end());
    header[static_cast<std::size_t>(highest)] = std::byte{1};  // 2^24 and more
    CHECK(refusal<ToDaemon>(header, payload_of(send)) ==
          std::string("a message with a bad field: PointToPoint.") + field);
  }
  const Payload stray = Payload::copy_of("x");
  for (const ToDaemon& message :
       {ToDaemon(runtime::AppFlow{credit()}), ToDaemon(runtime::AppAck{1})}) {
    const Encoded encoded = encoder.encode(message);
    const Bytes header(header_of(encoded).begin(), header_of(encoded).end());
    CHECK(refusal<ToDaemon>(header, stray).find("payload") != std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace phx::wire::records_test
