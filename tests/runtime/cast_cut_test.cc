#include "runtime/cast_cut.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "runtime/endpoint/endpoint_config.h"

namespace phx::runtime::cast_cut_test {
namespace {

constexpr std::uint32_t kShort = std::uint32_t{16} << 10U;
constexpr std::uint32_t kLong = std::uint32_t{64} << 10U;
constexpr std::uint32_t kLongest = std::uint32_t{256} << 10U;

void add(View& view, const std::string& address, const std::string& name) {
  Member member;
  member.id = ProcessorId{static_cast<std::uint32_t>(view.members.size() + 1)};
  member.endpoints = {address + ":7000"};
  member.name = name;
  view.members.put(member);
}

overlay::KnownNetwork with_rates(std::uint64_t in, std::uint64_t out) {
  overlay::KnownNetwork network;
  network.usual.in_bytes_per_second = in;
  network.usual.out_bytes_per_second = out;
  return network;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/cast_cut");

TEST_CASE("pieces are longest on one machine, and short between machines") {
  View view;
  add(view, "10.0.0.1", "one");
  CHECK(cast_cut(view, {}).least == kLongest);
  add(view, "10.0.0.1", "one");
  CHECK(cast_cut(view, {}).least == kLongest);
  CHECK(cast_cut(view, with_rates(500'000'000, 500'000'000)).least == kLongest);
  add(view, "10.0.0.2", "one");  // another machine of the same name
  CHECK(cast_cut(view, {}).least == kShort);
}

TEST_CASE("pieces are long where all interfaces are fast") {
  View view;
  add(view, "10.0.0.1", "one");
  add(view, "10.0.0.2", "two");
  CHECK(cast_cut(view, with_rates(500'000'000, 500'000'000)).least == kLong);
  CHECK(cast_cut(view, with_rates(500'000'000, 499'999'999)).least == kShort);
  CHECK(cast_cut(view, with_rates(499'999'999, 500'000'000)).least == kShort);
}

TEST_CASE("pieces fill a tree in a tenth of the longest way") {
  View view;
  for (int i = 0; i < 200; ++i) add(view, "10.0.1." + std::to_string(i), "site");
  auto network = with_rates(125'000'000, 125'000'000);
  CHECK(cast_cut(view, network).least == kShort);  // no way is known
  network.sites.resize(2);
  network.sites[0].latency = 150us;
  CHECK(cast_cut(view, network).least == kShort / 4);
  network.between[{0, 1}].latency = 4ms;  // 6,250 bytes at each of 8 levels
  CHECK(cast_cut(view, network).least == kShort / 4);
  network.between[{1, 0}].latency = 6ms;
  CHECK(cast_cut(view, network).least == kShort / 2);
  network.between[{1, 0}].latency = 36ms;
  CHECK(cast_cut(view, network).least == kShort);
  network.usual.out_bytes_per_second = 12'500'000;
  CHECK(cast_cut(view, network).least == kShort / 4);
}

TEST_CASE("a long message is cut into many pieces where the wire is slower than the daemons") {
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  EndpointConfig between;
  between.cast_piece_least = kShort;
  EndpointConfig near;
  near.cast_piece_least = kShort / 4;
  EndpointConfig within;
  within.cast_piece_least = kLong;
  for (const std::uint64_t vnodes : {16U, 201U}) {
    CHECK(between.cast_piece(kMiB, vnodes) == kShort);
    CHECK(between.cast_piece(256 * kMiB, vnodes) == kLong);
    CHECK(within.cast_piece(64 * kMiB, vnodes) == 2 * kLong);
  }
  // They grow with the root of the message, to 16 KiB, and of shallow trees to 32.
  CHECK(between.cast_piece(2 * kMiB, 16) == kShort);
  CHECK(between.cast_piece(4 * kMiB, 16) == 2 * kShort);
  CHECK(between.cast_piece(64 * kMiB, 16) == 2 * kShort);
  CHECK(between.cast_piece(4 * kMiB, 64) == kShort);
  CHECK(between.cast_piece(64 * kMiB, 64) == 2 * kShort);
  CHECK(between.cast_piece(64 * kMiB, 128) == kShort);
  CHECK(between.cast_piece(64 * kMiB, 201) == kShort);
  CHECK(between.cast_piece(std::size_t{16} << 30U, 201) == between.piece_bytes);
  CHECK(near.cast_piece(kShort / 2 - 1, 16) == kShort / 2);  // in one
  CHECK(near.cast_piece(kMiB / 16, 16) == kShort / 4);
  CHECK(near.cast_piece(kMiB / 4, 16) == kShort / 2);
  CHECK(near.cast_piece(kMiB, 16) == kShort);
  CHECK(near.cast_piece(kMiB, 201) == kShort / 4);
  CHECK(near.cast_piece(4 * kMiB, 201) == kShort / 2);
  CHECK(near.cast_piece(64 * kMiB, 201) == kShort);
  CHECK(within.cast_piece(kMiB, 16) == kLong);
  EndpointConfig beside;
  beside.cast_piece_least = kLongest;
  CHECK(beside.cast_piece(kMiB, 16) == kLongest);
  CHECK(beside.cast_piece(64 * kMiB, 64) == kLongest / 2);
}

TEST_CASE(
    "on one machine a broadcast goes in 64 longer pieces, which are lent") {
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  EndpointConfig config;
  config.cast_piece_least = kLongest;
  CHECK(config.broadcast_piece(64 * kMiB, 16) == 2 * kShort);  // Others have come.
  CHECK(config.broadcast_piece(kMiB / 4, 16) == kShort);
  CHECK(config.cast_piece(kMiB / 4, 16) == kLongest);  // What all must cut alike stays.
  config.is_one_machine = true;
  CHECK(config.broadcast_piece(kMiB, 16) == kLongest);
  CHECK(config.broadcast_piece(16 * kMiB, 16) == kLongest);
  CHECK(config.broadcast_piece(32 * kMiB, 16) == kMiB / 2);
  CHECK(config.broadcast_piece(64 * kMiB, 16) == kMiB);
  CHECK(config.broadcast_piece(1024 * kMiB, 16) == kMiB);
  CHECK(config.cast_piece(1024 * kMiB, 16) == config.piece_bytes);
  // As long as the job did not know that all are here, short messages are cut as for a wire.
  config.cast_piece_least = kShort;
  CHECK(config.broadcast_piece(kMiB, 16) == kShort);
}

TEST_CASE("on a slow wire a piece costs less of what the wire carries, so there are more of them") {
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  View view;
  add(view, "10.0.0.1", "one");
  add(view, "10.0.0.2", "two");
  const auto cut = [&](std::uint64_t rate, std::size_t bytes) {
    EndpointConfig config;
    auto network = with_rates(rate, rate);
    network.sites.resize(1);
    network.sites[0].latency = 150us;
    config.take(cast_cut(view, network));
    return config.cast_piece(bytes, 16);
  };
  CHECK(cast_cut(view, {}).cost == cast_cut(view, with_rates(125'000'000, 125'000'000)).cost);
  for (const std::uint64_t rate : {123'100'000U, 125'000'000U, 400'000'000U}) {
    CHECK(cut(rate, kMiB) == kShort);
    CHECK(cut(rate, 4 * kMiB) == 2 * kShort);
  }
  CHECK(cut(12'500'000, kMiB) == kShort / 4);
  CHECK(cut(12'500'000, 4 * kMiB) == kShort / 2);
  CHECK(cut(12'500'000, 64 * kMiB) == kShort);
  CHECK(cut(1'000, kMiB) == kShort / 4);
  // Of 1 Gbit/s 0.985 are left beside headers, so rates count in steps of two.
  CHECK(cut(43'800'000, 64 * kMiB) == 2 * kShort);
  CHECK(cut(43'700'000, 64 * kMiB) == kShort);
  CHECK(cut(12'310'000, 4 * kMiB) == kShort / 2);
  // The slower direction counts, and one alone if the other one is not known.
  const std::uint32_t slow = cast_cut(view, with_rates(12'500'000, 12'500'000)).cost;
  CHECK(cast_cut(view, with_rates(12'500'000, 125'000'000)).cost == slow);
  CHECK(cast_cut(view, with_rates(125'000'000, 12'500'000)).cost == slow);
  overlay::KnownNetwork half;
  half.usual.out_bytes_per_second = 12'500'000;
  CHECK(cast_cut(view, half).cost == slow);
  const std::uint32_t usual = cast_cut(view, {}).cost;
  CHECK(cast_cut(view, with_rates(~std::uint64_t{0}, ~std::uint64_t{0})).cost == usual);
  const auto told = [](const CastCut& said, std::size_t bytes) {
    EndpointConfig config;
    config.take(said);
    return config.cast_piece(bytes, 16);
  };
  CHECK(told({kShort / 4, ~std::uint32_t{0}}, kMiB / 16) == kShort);
  CHECK(told({kShort / 4, 0}, kMiB) == kShort);
  CHECK(told({kShort / 4, 1}, kMiB) == kShort / 4);
}

TEST_SUITE_END();

}  // namespace phx::runtime::cast_cut_test
