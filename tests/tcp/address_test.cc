#include "runtime/tcp/address.h"

#include <doctest/doctest.h>

namespace phx::tcp::address_test {

TEST_SUITE_BEGIN("tcp/address");

TEST_CASE("addresses survive their text") {
  for (const char* text : {"127.0.0.1:7000", "[::1]:65535", "lab3:1", "0.0.0.0:0"}) {
    const auto address = parse_address(text);
    REQUIRE(address.ok());
    CHECK(to_string(address.value()) == text);
  }
}

TEST_CASE("a missing port is any port") {
  CHECK(parse_address("10.1.2.3").value() == Address{"10.1.2.3", 0});
  CHECK(parse_address("[::]").value() == Address{"::", 0});
}

TEST_CASE("what is no address is refused with an example of one") {
  for (const char* text :
       {"a:b", "a:", "a:65536", "a:-1", "a:1x", "::1", "[::1", "[::1]7", "a:1:2"}) {
    CAPTURE(text);
    const auto address = parse_address(text);
    REQUIRE(!address.ok());
    CHECK(address.error().what.find("127.0.0.1:7000") != std::string::npos);
  }
}

TEST_CASE("numeric addresses of IPv6 are told from all others") {
  CHECK(is_v6("::"));
  CHECK(is_v6("fd00::2"));
  CHECK_FALSE(is_v6("127.0.0.1"));
  CHECK_FALSE(is_v6("lab3"));
}

TEST_CASE("nobody connects to a wildcard") {
  CHECK(is_wildcard({"0.0.0.0", 1}));
  CHECK(is_wildcard({"::", 1}));
  CHECK(is_wildcard({"", 1}));
  CHECK(!is_wildcard({"127.0.0.1", 0}));
}

TEST_CASE("names of the machine itself are known") {
  for (const char* const name : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) {
    CHECK(is_loopback(name));
  }
  for (const char* const name : {"", "lab1", "localhost.lab", "10.127.0.1", "::", "0.0.0.0"}) {
    CHECK_FALSE(is_loopback(name));
  }
}

TEST_SUITE_END();

}  // namespace phx::tcp::address_test
