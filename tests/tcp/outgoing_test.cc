#include "runtime/tcp/outgoing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "overlay/base/rng.h"

namespace phx::tcp::outgoing_test {
namespace {

Bytes bytes_of(std::size_t size, std::uint64_t seed) {
  Rng rng(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next());
  return bytes;
}

}  // namespace

TEST_SUITE_BEGIN("tcp/outgoing");

TEST_CASE("whatever sizes come and go, the bytes leave in order") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Outgoing queue;
    Bytes in;
    Bytes out;
    for (int i = 0; i < 200; ++i) {
      const bool long_one = rng.chance(0.2);
      Bytes piece = bytes_of(rng.below(long_one ? 20000 : 300), rng.next());
      in.insert(in.end(), piece.begin(), piece.end());
      if (rng.chance(0.5)) {
        queue.add(Payload(std::move(piece)));
      } else {
        queue.add(std::move(piece));
      }
      if (rng.chance(0.5) || i == 199) {
        std::size_t wanted = i == 199 ? queue.bytes() : rng.below(queue.bytes() + 1);
        while (wanted > 0) {
          const Outgoing::Gathered front = queue.front();
          std::size_t taken = 0;
          for (const iovec& one : front.view()) {
            const std::size_t part = std::min(one.iov_len, wanted - taken);
            const auto* begin = static_cast<const std::byte*>(one.iov_base);
            out.insert(out.end(), begin, begin + part);
            taken += part;
          }
          queue.pop(taken);
          wanted -= taken;
        }
      }
    }
    CHECK(queue.empty());
    CHECK(in == out);
  }
}

TEST_CASE("a long payload is not copied, and short ones share one buffer") {
  Outgoing queue;
  const Payload payload(bytes_of(100000, 1));

  queue.add(bytes_of(30, 2));
  queue.add(bytes_of(40, 3));
  queue.add(payload);

  const Outgoing::Gathered front = queue.front();
  REQUIRE(front.count == 2);
  CHECK(front.parts[0].iov_len == 70);
  CHECK(front.parts[1].iov_base == payload.bytes().data());
}

TEST_CASE("what is appended joins what waits, and is left out if nothing is written") {
  Outgoing queue;
  const auto append = [&queue](std::size_t size) {
    return queue.append([size](Bytes& to) {
      to.resize(to.size() + size, std::byte{7});
      return size > 0;
    });
  };
  CHECK_FALSE(append(0));
  CHECK(queue.empty());
  CHECK(append(30));
  CHECK_FALSE(append(0));
  queue.add(bytes_of(40, 3));
  CHECK(append(50));

  CHECK(queue.bytes() == 120);
  CHECK(queue.front().count == 1);
  const Payload payload(bytes_of(10000, 1));
  queue.add(payload);
  CHECK(append(60));
  CHECK(queue.front().count == 3);
  CHECK(queue.bytes() == 10180);
}

TEST_CASE("short messages one by one use the same memory") {
  Outgoing queue;
  const auto pass = [&queue] {
    static_cast<void>(queue.append([](Bytes& to) {
      to.resize(to.size() + 100);
      return true;
    }));
    const void* const place = queue.front().parts[0].iov_base;
    queue.pop(queue.bytes());
    return place;
  };
  const void* const place = pass();
  for (int i = 0; i < 100; ++i) CHECK(pass() == place);
}

TEST_CASE("one gathering has no more parts than one system call takes") {
  Outgoing queue;
  for (int i = 0; i < 100; ++i) queue.add(Payload(bytes_of(5000, 1)));

  CHECK(queue.front().count == Outgoing::kPartsMax);
  CHECK(queue.bytes() == 500000);
}

TEST_SUITE_END();

}  // namespace phx::tcp::outgoing_test
