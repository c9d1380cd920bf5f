#include "runtime/tcp/own_addresses.h"

#include <doctest/doctest.h>

#include <asio/ip/tcp.hpp>
#include <future>
#include <string>
#include <vector>

namespace phx::tcp::own_addresses_test {
namespace {

const Address kLoopback{"127.0.0.1", 7000};
const Address kEverywhere{"0.0.0.0", 7000};

bool is_own(const std::string& text, const Address& bound,
            const std::vector<std::string>& endpoints = {}) {
  return without_own({text}, {bound, endpoints}, 1h).empty();
}

}  // namespace

TEST_SUITE_BEGIN("tcp/own_addresses");

TEST_CASE("an address is own if a daemon of this machine is reached at it") {
  CHECK(is_own("127.0.0.1:7000", kLoopback));
  CHECK(is_own("localhost:7000", kEverywhere));
  CHECK(is_own("127.0.1.1:7000", kEverywhere));
  CHECK(is_own("outside:9", kLoopback, {"outside:9"}));
  for (const std::string& interface : interface_addresses()) {
    const std::string text = to_string(Address{interface, 7000});
    CAPTURE(text);
    CHECK(is_own(text, kEverywhere));
    CHECK(!is_own(text, kLoopback));
  }
}

TEST_CASE("an address of another port or machine, or none, is not own") {
  for (const char* text :
       {"127.0.0.1:7001", "127.0.0.2:7000", "192.0.2.1:7000", "127.0.0.1", "a:b"}) {
    CAPTURE(text);
    CHECK(!is_own(text, kLoopback));
  }
  CHECK(!is_own("127.0.0.1:0", {"0.0.0.0", 0}));
}

TEST_CASE("names are looked up all at once, and those that are not known are not own") {
  std::promise<void> asked;
  const LookUp look_up = [&asked, after = asked.get_future().share()](
                             const Address& name) -> Result<Places> {
    if (name.name == "own") {
      asked.set_value();
      return Places{{asio::ip::address_v4::loopback(), name.port}};
    }
    if (name.name == "late") after.wait();
    return Error{ErrorCode::kNotFound, "no such name"};
  };
  const std::vector<std::string> all{"late:7000", "own:7000", "nobody:7000", "own:7001"};

  CHECK(without_own(all, {kEverywhere, {}}, 1h, look_up) ==
        std::vector<std::string>{"late:7000", "nobody:7000", "own:7001"});
}

TEST_SUITE_END();

}  // namespace phx::tcp::own_addresses_test
