#include "runtime/tcp/names.h"

#include <doctest/doctest.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/tcp/loop.h"

namespace phx::tcp::names_test {
namespace {

const asio::ip::tcp::endpoint kPlace(asio::ip::address_v4::loopback(), 7000);

/// A resolver that gives no answer for "hangs" before this is gone.
class Resolver {
 public:
  [[nodiscard]] LookUp look_up() const {
    return [hung = hung_](const Address& address) -> Result<Places> {
      if (address.name == "hangs") hung.wait();
      if (address.name == "nobody") return Error{ErrorCode::kNotFound, "nobody: no such name"};
      return Places{kPlace};
    };
  }

 private:
  std::promise<void> end_;
  std::shared_future<void> hung_ = end_.get_future().share();

 public:
  ~Resolver() { end_.set_value(); }
};

using Found = std::shared_ptr<std::optional<Result<Places>>>;

asio::awaitable<void> find_into(Found found, Address address, Duration patience, LookUp look_up) {
  found->emplace(co_await find_places(std::move(address), patience, std::move(look_up)));
}

Found find(asio::io_context& io, const std::string& name, const Resolver& resolver,
           Duration patience = 1h) {
  auto found = std::make_shared<std::optional<Result<Places>>>();
  asio::co_spawn(io, find_into(found, {name, 7000}, patience, resolver.look_up()), asio::detached);
  return found;
}

}  // namespace

TEST_SUITE_BEGIN("tcp/names");

TEST_CASE("a name that hangs keeps no other one waiting") {
  test::Loop loop;
  const Resolver resolver;
  const Found hung = find(loop.io, "hangs", resolver);
  const Found other = find(loop.io, "other", resolver);
  const Found nobody = find(loop.io, "nobody", resolver);

  REQUIRE(loop.until([&] { return *other && *nobody; }));
  CHECK(other->value().value() == Places{kPlace});
  CHECK(nobody->value().error().what == "nobody: no such name");
  CHECK(!*hung);
}

TEST_CASE("a name that hangs is given up in time and whoever asked may go before it answers") {
  const Resolver resolver;
  Found late, gone;
  {
    test::Loop loop;
    late = find(loop.io, "hangs", resolver, 1ms);
    gone = find(loop.io, "hangs", resolver);
    REQUIRE(loop.until([&] { return late->has_value(); }));
  }
  CHECK(late->value().error().code == ErrorCode::kNotFound);
  CHECK(late->value().error().what == "hangs: it could not be looked up in time");
  CHECK(!*gone);
}

TEST_CASE("more names than are looked up at once wait for their turn") {
  test::Loop loop;
  std::vector<Found> hung;
  Found other;
  {
    const Resolver resolver;
    for (std::size_t i = 0; i < kLookUpsMost; ++i) {
      hung.push_back(find(loop.io, "hangs", resolver));
    }
    loop.poll();
    other = find(loop.io, "other", resolver);
    loop.poll();
    CHECK(!*other);
  }
  REQUIRE(loop.until([&] { return other->has_value(); }));
  for (const Found& one : hung) REQUIRE(loop.until([&] { return one->has_value(); }));
}

TEST_CASE("a number is not looked up") {
  test::Loop loop;
  const Resolver resolver;
  const Found found = find(loop.io, "127.0.0.1", resolver);
  loop.poll();
  REQUIRE(found->has_value());
  CHECK(found->value().value() == Places{kPlace});
}

TEST_SUITE_END();

}  // namespace phx::tcp::names_test
