#include "overlay/child_table.h"

#include <doctest/doctest.h>

namespace phx::overlay::child_table_test {
namespace {

const ProcessorId kFirst{2};
const ProcessorId kSecond{3};

Attach attach(std::uint64_t attachment, ProcessorSet below) {
  return Attach{{}, attachment, 0, {}, std::move(below)};
}

UpdateSet change(std::uint64_t attachment, std::uint64_t version, ProcessorSet added,
                 ProcessorSet removed = {}) {
  return UpdateSet{{}, attachment, version, std::move(added), std::move(removed)};
}

TEST_CASE("[Saito08 E, future work a] the child with most below it comes first, then the newest") {
  ChildTable table;
  const ProcessorId third{5};
  CHECK(table.attach(kFirst, attach(1, {kFirst, ProcessorId{7}})));
  CHECK(table.attach(kSecond, attach(1, {kSecond})));
  CHECK(table.attach(third, attach(1, {third})));

  const std::vector<TreeChild> children = table.children();

  REQUIRE(children.size() == 3);
  CHECK(children[0] == TreeChild{kFirst, {kFirst, ProcessorId{7}}});
  CHECK(children[1].id == third);
  CHECK(children[2].id == kSecond);
  CHECK(table.below() == ProcessorSet{kFirst, kSecond, third, ProcessorId{7}});
}

TEST_CASE("[Saito08 G9] who is below two children is below the one that attached later") {
  ChildTable table;
  CHECK(table.attach(kFirst, attach(1, {kFirst, ProcessorId{7}, ProcessorId{8}})));
  CHECK(table.attach(kSecond, attach(1, {kSecond, ProcessorId{7}})));

  const std::vector<TreeChild> children = table.children();

  REQUIRE(children.size() == 2);
  CHECK(children[0].below == ProcessorSet{kSecond, ProcessorId{7}});
  CHECK(children[1].below == ProcessorSet{kFirst, ProcessorId{8}});
}

TEST_CASE("a child is always below itself, whatever it says") {
  ChildTable table;
  table.attach(kFirst, attach(1, {}));
  CHECK(table.below() == ProcessorSet{kFirst});

  table.update(kFirst, change(1, 1, {}, {kFirst}));
  CHECK(table.below() == ProcessorSet{kFirst});
}

TEST_CASE(
    "a later attachment of a child replaces the earlier one, the same or an older one does not") {
  ChildTable table;
  CHECK(table.attach(kFirst, attach(0, {})));  // any number may be the first
  CHECK(table.attach(kSecond, attach(1, {})));
  CHECK(table.attach(kFirst, attach(2, {ProcessorId{7}})));
  CHECK(table.children().at(0) == TreeChild{kFirst, {kFirst, ProcessorId{7}}});

  CHECK_FALSE(table.attach(kFirst, attach(2, {})));
  CHECK_FALSE(table.attach(kFirst, attach(1, {})));
  CHECK(table.children().at(0) == TreeChild{kFirst, {kFirst, ProcessorId{7}}});
}

TEST_CASE("changes of an older attachment, or older ones, are dropped [Saito08 G8]") {
  ChildTable table;
  table.attach(kFirst, attach(5, {kFirst}));

  CHECK_FALSE(table.update(kFirst, change(4, 1, {ProcessorId{9}})));
  CHECK(table.update(kFirst, change(5, 2, {ProcessorId{8}})));
  CHECK_FALSE(table.update(kFirst, change(5, 2, {ProcessorId{9}})));
  CHECK_FALSE(table.update(kFirst, change(5, 1, {ProcessorId{9}})));
  CHECK_FALSE(table.update(kSecond, change(5, 3, {ProcessorId{9}})));

  CHECK(table.below() == ProcessorSet{kFirst, ProcessorId{8}});
}

TEST_CASE("only the present attachment can be detached") {
  ChildTable table;
  table.attach(kFirst, attach(5, {kFirst}));

  CHECK_FALSE(table.detach(kFirst, 4));
  CHECK_FALSE(table.attach(kFirst, attach(5, {})));
  CHECK(table.contains(kFirst));
  CHECK(table.detach(kFirst, 5));
  CHECK(table.size() == 0);
}

TEST_CASE("children that left the membership go") {
  ChildTable table;
  table.attach(kFirst, attach(1, {kFirst}));
  table.attach(kSecond, attach(1, {kSecond}));

  CHECK(table.keep_only({kSecond}));
  CHECK_FALSE(table.keep_only({kSecond}));

  CHECK(table.ids() == std::vector<ProcessorId>{kSecond});
}

}  // namespace
}  // namespace phx::overlay::child_table_test
