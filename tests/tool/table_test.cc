#include "apps/phoenix/texts/table.h"

#include <doctest/doctest.h>

namespace phx::app::table_test {

TEST_CASE("columns are as wide as their widest cell, and numbers stand on the right") {
  Table table({"NAME", "COUNT", "WHAT"});
  table.add({"a", "7", "x"});
  table.add({"longer", "1234", ""});

  CHECK(table.text() ==
        "NAME    COUNT  WHAT\n"
        "a           7  x\n"
        "longer   1234\n");
}

TEST_CASE("nothing in a cell reaches the terminal but text") {
  Table table({"NAME"});
  table.add({"\033[2Jx\ny\t"});

  CHECK(table.text() == "NAME\n?[2Jx?y?\n");
}

}  // namespace phx::app::table_test
