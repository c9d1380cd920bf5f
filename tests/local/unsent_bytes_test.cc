#include "runtime/local/unsent_bytes.h"

#include <doctest/doctest.h>

#include <string>

namespace phx::local {
namespace {

std::string content(const UnsentBytes& unsent) {
  std::string text;
  for (const iovec& part : unsent.front()) {
    text.append(static_cast<const char*>(part.iov_base), part.iov_len);
  }
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("local/unsent_bytes");

TEST_CASE("short pieces are joined, long payloads are shared") {
  UnsentBytes unsent;
  const Payload big = Payload::copy_of(std::string(10'000, 'b'));

  unsent.add(Payload::copy_of("one "));
  unsent.add(Bytes(3, std::byte{'x'}));
  unsent.add(Payload());
  unsent.add(big);
  unsent.add(Payload::copy_of(" end"));

  const auto parts = unsent.front();
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].iov_base == big.bytes().data());
  CHECK(unsent.size() == 10'011);
  CHECK(content(unsent) == "one xxx" + std::string(10'000, 'b') + " end");
}

TEST_CASE("what is written goes away, in the middle of a piece or behind several") {
  UnsentBytes unsent;
  unsent.add(Payload::copy_of("short"));
  unsent.add(Payload::copy_of(std::string(5'000, 'l')));
  unsent.add(Payload::copy_of("tail"));

  unsent.pop(2);
  CHECK(content(unsent).substr(0, 5) == "ortll");
  unsent.pop(3 + 4'999);
  CHECK(content(unsent) == "ltail");
  unsent.pop(5);

  CHECK(unsent.size() == 0);
  CHECK(unsent.front().empty());
}

TEST_SUITE_END();

}  // namespace phx::local
