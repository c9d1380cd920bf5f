#include "apps/phoenix/bench/round_report.h"

#include <doctest/doctest.h>

namespace phx::app::round_report_test {

TEST_CASE("a time above the noise of the reduction has a ratio") {
  RoundReport report;
  report.add(64, "in-turn",
             {{"br/in-turn", {0.001}},
              {"v2/in-turn", {0.0005, 0.002, 0.004}},
              {"noise/in-turn", {0.001}},
              {"v3/in-turn", {0.003}}});
  report.tell_past(0.5);

  CHECK(report.table() ==
        "BYTES  ROOTS    BR MS  V2 MS  V2 MOST MS  BR/V2  V3 MS  PAST TREES %\n"
        "   64  in-turn  1.000  2.000       4.000   0.50  3.000          0.50\n");
}

TEST_CASE("one below the noise is not known better and has no ratio") {
  RoundReport report;
  report.add(64, "in-turn",
             {{"br/in-turn", {0.001}},
              {"v2/in-turn", {-0.004, -0.002, 0.0005}},
              {"noise/in-turn", {0.0001, 0.001, 0.003}}});
  report.tell_past(0);

  CHECK(report.table() ==
        "BYTES  ROOTS    BR MS  V2 MS    V2 MOST MS  BR/V2  V3 MS  PAST TREES %\n"
        "   64  in-turn  1.000  < 1.000  < 1.000                           0.00\n");
}

TEST_CASE("what went past the trees is told once for a job with several orders") {
  RoundReport report;
  CHECK(report.is_empty());
  report.add(64, "in-turn", {});
  report.add(64, "at-random", {});
  report.tell_past(0.5);
  report.add(64, "moving", {});
  report.tell_past(1.5);

  CHECK(report.table() ==
        "BYTES  ROOTS      BR MS  V2 MS  V2 MOST MS  BR/V2  V3 MS  PAST TREES %\n"
        "   64  in-turn    0.000  0.000       0.000                0.50\n"
        "   64  at-random  0.000  0.000       0.000\n"
        "   64  moving     0.000  0.000       0.000                1.50\n");
}

TEST_CASE("in JSON no time is below the noise and those that were are counted") {
  RoundReport report;
  report.add(64, "in-turn",
             {{"br/in-turn", {0.5}}, {"v2/in-turn", {-1, 0.125, 2}}, {"noise/in-turn", {0.25}}});
  report.tell_past(0);

  CHECK(report.json() ==
        "[\n"
        "  {\n"
        "    \"br\": 0.5,\n"
        "    \"bytes\": 64,\n"
        "    \"order\": \"in-turn\",\n"
        "    \"past_trees_percent\": 0.0,\n"
        "    \"v2\": [\n"
        "      0.25,\n"
        "      0.25,\n"
        "      2.0\n"
        "    ],\n"
        "    \"v2_below_noise\": 2,\n"
        "    \"v2_noise\": 0.25,\n"
        "    \"v3\": []\n"
        "  }\n"
        "]\n");
}

}  // namespace phx::app::round_report_test
