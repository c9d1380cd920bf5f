// The small vocabulary: ids, times, results, payloads, outboxes, visitors.

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <type_traits>
#include <variant>

#include "overlay/base/ids.h"
#include "overlay/base/one_of.h"
#include "overlay/base/one_of_members.h"
#include "overlay/base/outbox.h"
#include "overlay/base/overloaded.h"
#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"

template class phx::OneOf<int, std::string, double>;

namespace phx::values_test {
namespace {

using Thing = OneOf<int, std::string, double>;

TEST_CASE("ids are written with the letter of their kind, and do not convert") {
  std::ostringstream text;
  text << ProcessorId{6} << ' ' << VnodeId{120};
  CHECK(text.str() == "p6 v120");
  CHECK(to_string(JobId{2}) == "j2");
  CHECK_FALSE(std::is_convertible_v<ProcessorId, JobId>);
  CHECK_FALSE(std::is_constructible_v<VnodeId, ProcessorId>);
  CHECK(ProcessorId{1} < ProcessorId{2});
}

TEST_CASE("trees are ordered by root, then by kind") {
  CHECK(TreeId{ProcessorId{1}, TreeKind::kBandwidth} < TreeId{ProcessorId{2}, TreeKind::kLatency});
  CHECK(TreeId{ProcessorId{1}, TreeKind::kLatency} < TreeId{ProcessorId{1}, TreeKind::kBandwidth});
}

TEST_CASE("times are nanoseconds, and read as milliseconds with their fraction") {
  CHECK(to_ms(1500us) == doctest::Approx(1.5));
  CHECK((Instant{} + 1s) - Instant{} == 1000ms);
}

TEST_CASE("a result is a value or the reason why there is none") {
  const Result<int> good = 7;
  const Result<int> bad = Error{ErrorCode::kNotFound, "no such thing"};
  CHECK(good.ok());
  CHECK(good.value() == 7);
  CHECK_FALSE(bad.ok());
  CHECK(bad.error() == Error{ErrorCode::kNotFound, "no such thing"});
  CHECK(success().ok());
}

TEST_CASE("copies and slices of a payload share its memory") {
  const Payload whole = Payload::copy_of("halo and more");
  const Payload copy = whole;
  const Payload part = whole.slice(5, 3);

  CHECK(copy.bytes().data() == whole.bytes().data());
  CHECK(part.bytes().data() == whole.bytes().data() + 5);
  CHECK(part.text() == "and");
  CHECK(part == Payload::copy_of("and"));
  CHECK(Payload{}.empty());
  CHECK(Payload{} == whole.slice(0, 0));
}

TEST_CASE("memory of another owner lives as long as a payload needs it") {
  auto owner = std::make_shared<std::string>("mapped");
  const std::weak_ptr<std::string> watch = owner;
  const std::span<const std::byte> view = std::as_bytes(std::span(*owner));
  Payload payload(std::move(owner), view);
  Payload part = payload.slice(3, 3);

  payload = {};
  CHECK_FALSE(watch.expired());
  CHECK(part.text() == "ped");
  part = {};
  CHECK(watch.expired());
}

TEST_CASE("an outbox keeps the order of what is wanted, and gives it away once") {
  using Box = Outbox<std::string, int, double>;
  Box out;
  out.send(ProcessorId{2}, "ping");
  out.arm(1, Instant{5s});
  out.disarm(1);
  out.report(0.5);

  CHECK(out.take() == std::vector<Box::Item>{Box::Send{ProcessorId{2}, "ping"},
                                             Box::Arm{1, Instant{5s}}, Box::Arm{1, std::nullopt},
                                             0.5});
  CHECK(out.empty());
  CHECK(out.items().empty());
}

TEST_CASE("one of several types is copied, moved, compared and visited as a std::variant is") {
  Thing thing = std::string(40, 'x');
  Thing copy = thing;
  const Thing moved = std::move(copy);
  const Thing nothing;

  CHECK(moved == thing);
  CHECK(nothing == Thing{0});
  CHECK(thing != Thing{std::string("y")});
  CHECK(std::get<std::string>(moved) == std::string(40, 'x'));
  thing = 2.5;
  CHECK(std::get_if<std::string>(&thing) == nullptr);
  CHECK(std::visit([](const auto& value) { return sizeof(value); }, thing) == sizeof(double));
}

TEST_CASE("a visitor is made of one callable per kind") {
  const auto name = [](const std::variant<int, std::string>& value) {
    return std::visit(
        Overloaded{[](int) { return "number"; }, [](const std::string&) { return "text"; }}, value);
  };
  CHECK(std::string(name(1)) == "number");
  CHECK(std::string(name("one")) == "text");
}

}  // namespace
}  // namespace phx::values_test
