#include "runtime/wire/framing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "overlay/base/rng.h"
#include "tests/support/little_memory.h"
#include "tests/support/seeds.h"

namespace phx::wire::framing_test {
namespace {

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A message as it crosses a connection.
Bytes framed(const Bytes& header, const Bytes& payload, Family family = Family::kFrame) {
  Bytes all(kPrefixBytes);
  write_prefix({.family = family,
                .version = kWireVersion,
                .header_size = static_cast<std::uint32_t>(header.size()),
                .payload_size = payload.size(),
                .header_check = check_of(header)},
               all);
  all.insert(all.end(), header.begin(), header.end());
  all.insert(all.end(), payload.begin(), payload.end());
  return all;
}

/// A prefix alone that announces these sizes.
Bytes announcement(std::uint32_t header_size, std::uint64_t payload_size,
                   Family family = Family::kFrame) {
  Bytes prefix(kPrefixBytes);
  write_prefix({.family = family,
                .version = kWireVersion,
                .header_size = header_size,
                .payload_size = payload_size,
                .header_check = check_of({})},
               prefix);
  return prefix;
}

Status feed(FrameReader& reader, const Bytes& bytes) {
  std::span<const std::byte> left = bytes;
  return reader.consume(left);
}

TEST_CASE("messages come out of a stream however it is cut") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    std::vector<std::pair<Bytes, Bytes>> sent;
    Bytes stream;
    for (int i = 0; i < 20; ++i) {
      const Bytes header(static_cast<std::size_t>(rng.below(40)), std::byte{7});
      const Bytes payload(static_cast<std::size_t>(rng.below(300)), static_cast<std::byte>(i));
      sent.emplace_back(header, payload);
      const Bytes message = framed(header, payload);
      stream.insert(stream.end(), message.begin(), message.end());
    }

    FrameReader reader(Family::kFrame);
    std::size_t received = 0;
    std::span<const std::byte> left = stream;
    while (!left.empty()) {
      auto piece = left.first(std::min<std::size_t>(1 + rng.below(100), left.size()));
      left = left.subspan(piece.size());
      while (!piece.empty()) {
        REQUIRE(reader.consume(piece).ok());
        if (!reader.is_complete()) continue;
        const Bytes header(reader.header().begin(), reader.header().end());
        CHECK(header == sent[received].first);
        CHECK(reader.take_payload() == Payload(sent[received].second));
        reader.next();
        ++received;
      }
    }

    CHECK(received == sent.size());
    CHECK(reader.is_between());
  }
}

TEST_CASE("a long payload is read straight into its final place") {
  constexpr std::size_t kSize = std::size_t{32} << 20U;
  FrameReader reader(Family::kFrame);
  REQUIRE(feed(reader, announcement(0, kSize)).ok());
  const std::span<std::byte> space = reader.space();
  REQUIRE(space.size() == kSize);
  std::memset(space.data(), 5, space.size());
  REQUIRE(reader.advance(space.size()).ok());

  REQUIRE(reader.is_complete());
  const Payload payload = reader.take_payload();
  CHECK(payload.bytes().data() == space.data());
  CHECK(payload.size() == kSize);
}

TEST_CASE("a header that is announced and does not come costs little") {
  FrameReader reader(Family::kFrame);

  REQUIRE(feed(reader, announcement(Limits{}.header_max, 0)).ok());

  CHECK(reader.allocated() <= std::size_t{64} << 10U);
}

TEST_CASE("a payload beyond the first step gets room as it arrives") {
  constexpr std::uint32_t kSize = std::uint32_t{200} << 20U;
  FrameReader reader(Family::kFrame);

  REQUIRE(feed(reader, announcement(0, kSize)).ok());
  CHECK(reader.allocated() <= std::size_t{64} << 20U);
  reader.space()[0] = std::byte{9};
  REQUIRE(reader.advance(reader.space().size()).ok());
  CHECK(reader.allocated() == kSize);
  REQUIRE(reader.advance(reader.space().size()).ok());

  REQUIRE(reader.is_complete());
  CHECK(reader.take_payload().bytes()[0] == std::byte{9});
}

TEST_CASE("what an application sends is not copied while it comes") {
  constexpr std::uint32_t kSize = std::uint32_t{200} << 20U;
  FrameReader reader(Family::kToDaemon);

  REQUIRE(feed(reader, announcement(0, kSize, Family::kToDaemon)).ok());

  CHECK(reader.space().size() == kSize);
}

TEST_CASE("what is too large is refused at once, before anything is allocated") {
  const Limits limits{.header_max = 1000, .payload_max = 2000};
  FrameReader long_header(Family::kFrame, limits);
  FrameReader long_payload(Family::kFrame, limits);

  const Status header_status = feed(long_header, announcement(1001, 0));
  const Status payload_status = feed(long_payload, announcement(0, 2001));

  REQUIRE_FALSE(header_status.ok());
  CHECK(header_status.error().code == ErrorCode::kLimit);
  CHECK(long_header.allocated() == 0);
  REQUIRE_FALSE(payload_status.ok());
  CHECK(payload_status.error().code == ErrorCode::kLimit);
  CHECK(long_payload.allocated() == 0);
}

TEST_CASE(
    "the state of a vnode may take more than 4 GiB, on its way to an application or from it") {
  const auto read = [](std::uint32_t header_size, std::uint64_t payload_size, Family family) {
    const Bytes bytes = announcement(header_size, payload_size, family);
    return read_prefix(std::span(bytes).first<kPrefixBytes>(), family, {});
  };
  constexpr std::uint64_t kSizes[] = {0, (std::uint64_t{1} << 32U) - 1, std::uint64_t{5} << 32U,
                                      kLocalPayloadMax};

  for (const std::uint64_t payload : kSizes) {
    for (const std::uint32_t header : {std::uint32_t{0}, std::uint32_t{7}, Limits{}.header_max}) {
      CAPTURE(payload);
      CAPTURE(header);
      const auto prefix = read(header, payload, Family::kToApplication);
      REQUIRE(prefix.ok());
      CHECK(prefix.value().header_size == header);
      CHECK(prefix.value().payload_size == payload);
    }
  }
  for (const std::uint64_t size : {kLocalPayloadMax + 1, ~std::uint64_t{0}}) {
    CHECK(read(0, size, Family::kToDaemon).error().code == ErrorCode::kLimit);
  }
  CHECK(read(0, kPayloadMax, Family::kFrame).ok());
  CHECK(read(0, kPayloadMax + 1, Family::kFrame).error().code == ErrorCode::kLimit);
  CHECK(read(~std::uint32_t{0}, 0, Family::kFrame).error().code == ErrorCode::kLimit);
}

#if !defined(PHX_IS_SANITIZED)
TEST_CASE("limits: a payload that there is no memory for is refused, and what came is given back") {
  const support::LittleMemory little;
  FrameReader reader(Family::kToDaemon);

  const Status status = feed(reader, announcement(0, kLocalPayloadMax, Family::kToDaemon));

  REQUIRE_FALSE(status.ok());
  CHECK(status.error() == Error{ErrorCode::kLimit,
                                "a payload of 68719476736 bytes announced; there is no memory for "
                                "it here"});
  CHECK(reader.allocated() == 0);
  CHECK(reader.space().empty());
}
#endif

TEST_CASE("every flipped bit of a prefix or a header is noticed") {
  Bytes message = framed(bytes_of("some header"), {});
  for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
    CAPTURE(bit);
    const std::byte mask{static_cast<unsigned char>(1U << (bit % 8))};
    message[bit / 8] ^= mask;
    FrameReader reader(Family::kFrame);
    CHECK_FALSE(feed(reader, message).ok());
    message[bit / 8] ^= mask;
  }
}

TEST_CASE("another version is refused as such, even if all else is strange") {
  Bytes message = framed(bytes_of("x"), {});
  Prefix other{.family = Family::kFrame,
               .version = kWireVersion + 1,
               .header_size = 0xffffffff,
               .payload_size = 0xffffffff,
               .header_check = 0};
  write_prefix(other, message);
  FrameReader reader(Family::kFrame);

  const Status status = feed(reader, message);

  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == ErrorCode::kBadVersion);
}

TEST_CASE("a message of another family and a stream of another protocol are refused") {
  FrameReader family(Family::kFrame);
  FrameReader protocol(Family::kFrame);

  CHECK_FALSE(feed(family, framed(bytes_of("x"), {}, Family::kToDaemon)).ok());
  CHECK_FALSE(feed(protocol, bytes_of("GET / HTTP/1.1\r\nHost: x\r\n\r\n")).ok());
}

TEST_CASE("references are told from payloads, and refused where none are expected") {
  Bytes message(kPrefixBytes);
  write_prefix({.family = Family::kToDaemon,
                .payload_size = 2,
                .header_check = check_of({}),
                .is_reference = true},
               message);
  message.resize(message.size() + 2, std::byte{5});
  FrameReader willing(Family::kToDaemon, {.references = true});
  FrameReader unwilling(Family::kToDaemon);

  REQUIRE(feed(willing, message).ok());
  CHECK(willing.is_complete());
  CHECK(willing.is_reference());
  CHECK(willing.take_payload() == Payload(Bytes(2, std::byte{5})));
  CHECK(feed(unwilling, message).error().code == ErrorCode::kBadInput);
  willing.next();
  REQUIRE(feed(willing, framed({}, Bytes(2), Family::kToDaemon)).ok());
  CHECK_FALSE(willing.is_reference());
}

TEST_CASE("a payload goes where the owner of the reader wants it, if it does") {
  std::shared_ptr<std::byte[]> given;
  FrameReader reader(Family::kFrame, {}, [&](std::size_t size) {
    if (size > 10) given = std::make_shared<std::byte[]>(size);
    return size > 10 ? given : nullptr;
  });

  REQUIRE(feed(reader, framed({}, Bytes(20, std::byte{1}))).ok());
  CHECK(reader.take_payload().bytes().data() == given.get());
  reader.next();
  REQUIRE(feed(reader, framed({}, Bytes(10, std::byte{2}))).ok());
  CHECK(reader.take_payload() == Payload(Bytes(10, std::byte{2})));
}

TEST_CASE("after an error the reader stays in it and takes nothing") {
  FrameReader reader(Family::kFrame);
  REQUIRE_FALSE(feed(reader, bytes_of("0123456789abcdef")).ok());

  CHECK(reader.space().empty());
  CHECK_FALSE(feed(reader, framed({}, {})).ok());
  CHECK_FALSE(reader.is_complete());
}

}  // namespace
}  // namespace phx::wire::framing_test
