#include "apps/phoenix/texts/quoting.h"

#include <doctest/doctest.h>

namespace phx::app::quoting_test {

TEST_CASE("text of a page is escaped, and without control characters") {
  CHECK(escaped("a < b && c\x1b[1m\n") == "a &lt; b &amp;&amp; c[1m");
  CHECK(escaped("").empty());
}

TEST_CASE("text of a page is UTF-8, whatever it was") {
  CHECK(escaped("\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x90\xA6") ==
        "\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x90\xA6");
  CHECK(escaped("J\xFCrgen") == "J\xEF\xBF\xBDrgen");
  CHECK(escaped("cut \xE2\x82") == "cut \xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(escaped("\xC0\xBC") == "\xEF\xBF\xBD\xEF\xBF\xBD");                  // '<' in two bytes
  CHECK(escaped("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // half of a pair
  CHECK(escaped("\xEF\xBF\xBF") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // none for XML
}

TEST_CASE("a word of a shell has quotes if it needs them") {
  CHECK(shell_word("some/where.topology") == "some/where.topology");
  CHECK(shell_word("my network") == "'my network'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("") == "''");
}

}  // namespace phx::app::quoting_test
