#include "apps/phoenix/texts/csv.h"

#include <doctest/doctest.h>

namespace phx::app::csv_test {

TEST_CASE("a field with a comma, a quote or a line break is quoted") {
  Csv csv({"way", "ms"});
  csv.add({"learned, first", "1.5"});
  csv.add({"the \"best\"", "two\nlines"});
  csv.add({"", "plain text"});

  CHECK(csv.text() ==
        "way,ms\n"
        "\"learned, first\",1.5\n"
        "\"the \"\"best\"\"\",\"two\nlines\"\n"
        ",plain text\n");
}

}  // namespace phx::app::csv_test
