#include "apps/phoenix/texts/amounts.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace phx::app::amounts_test {

TEST_CASE("amounts have the unit that fits them") {
  CHECK(spell_bytes(0) == "0 B");
  CHECK(spell_bytes(1023) == "1023 B");
  CHECK(spell_bytes(1536) == "1.5 KiB");
  CHECK(spell_bytes(~std::uint64_t{0}) == "16777216.0 TiB");
  CHECK(spell_short(0.00085) == "850 us");
  CHECK(spell_short(0.0032) == "3.2 ms");
  CHECK(spell_short(1.2) == "1.20 s");
  CHECK(counted(1, "vnode") == "1 vnode");
  CHECK(counted(0, "vnode") == "0 vnodes");
}

TEST_CASE("sizes are numbers with K or M up to 1 GiB, and nothing else is") {
  CHECK(parse_size("100") == 100U);
  CHECK(parse_size("64K") == 65'536U);
  CHECK(parse_size("1024M") == 1'073'741'824U);
  for (const std::string_view wrong : {"", "K", "-1", "1.5M", "4MB", "4 M", "1025M", "99999999999",
                                       "18446744073709551616", "1G"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_size(wrong));
  }
}

TEST_CASE("a scale has round steps, and numbers with the digits that they need") {
  CHECK(round_step(100, 5) == doctest::Approx(20));
  CHECK(round_step(0.7, 5) == doctest::Approx(0.2));
  CHECK(spell_on_scale(0.4, 0.2) == "0.4");
  CHECK(spell_on_scale(40, 20) == "40");
}

}  // namespace phx::app::amounts_test
