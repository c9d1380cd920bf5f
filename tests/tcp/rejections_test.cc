#include "runtime/tcp/rejections.h"

#include <doctest/doctest.h>

namespace phx::tcp::rejections_test {

TEST_SUITE_BEGIN("tcp/rejections");

TEST_CASE("one line per kind and address in a minute, with what came in between") {
  Rejections rejections;
  const Instant start{};

  CHECK(rejections.count(start, ErrorCode::kDenied, "a") == 1);
  CHECK(rejections.count(start, ErrorCode::kDenied, "b") == 1);
  CHECK(rejections.count(start, ErrorCode::kLimit, "a") == 1);
  CHECK(!rejections.count(start + 1s, ErrorCode::kDenied, "a"));
  CHECK(!rejections.count(start + 59s, ErrorCode::kDenied, "a"));

  CHECK(rejections.count(start + 60s, ErrorCode::kDenied, "a") == 3);
  CHECK(rejections.total() == 6);
}

TEST_CASE("many addresses cost neither memory nor lines") {
  Rejections rejections;
  const Instant start{};
  std::size_t lines = 0;

  for (int i = 0; i < 100000; ++i) {
    const auto line = rejections.count(start, ErrorCode::kBadInput, std::to_string(i));
    lines += line.has_value() ? 1U : 0U;
  }

  CHECK(lines == Rejections::kPairsMax);
  CHECK(rejections.total() == 100000);
  CHECK(rejections.count(start + 61s, ErrorCode::kBadInput, "new") == 1);
}

TEST_SUITE_END();

}  // namespace phx::tcp::rejections_test
