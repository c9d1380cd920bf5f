#include "apps/phoenix/jobs/child.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <string>
#include <vector>

namespace phx::app::child_test {
namespace {

std::vector<std::string> lines_of(Child& child) {
  std::vector<std::string> lines;
  pollfd readable{child.descriptor(), POLLIN, 0};
  while (child.take([&](const std::string& line) { lines.push_back(line); })) {
    ::poll(&readable, 1, -1);
  }
  return lines;
}

}  // namespace

TEST_CASE("a program gets its words as they are, and settings beside those of this process") {
  auto child = Child::start_program(
      "/bin/sh", {"-c", "echo \"$PHX_SAID|$1|${PATH:+path}\"; exit 3", "sh", "two; words $HOME"},
      {"PHX_SAID=a b"});
  REQUIRE(child.ok());

  CHECK(lines_of(child.value()) == std::vector<std::string>{"a b|two; words $HOME|path"});
  CHECK(child.value().exit_code() == 3);
}

TEST_CASE("a program that is ended has ended by a signal, and has no more lines") {
  auto child = Child::start_program("/bin/sleep", {"600"}, {});
  REQUIRE(child.ok());
  CHECK(child.value().exit_code() == -1);

  child.value().end();

  CHECK(child.value().exit_code() == 128 + 15);
  CHECK(lines_of(child.value()).empty());
}

TEST_CASE("a program that writes more than a pipe holds before it ends is ended, too") {
  auto child = Child::start_program(
      "/bin/sh",
      {"-c", "trap 'head -c 1000000 /dev/zero; exit 5' TERM; echo; while :; do sleep 0.05; done"},
      {});
  REQUIRE(child.ok());
  pollfd readable{child.value().descriptor(), POLLIN, 0};
  ::poll(&readable, 1, -1);  // The trap is set.

  child.value().end();

  CHECK(child.value().exit_code() == 5);
}

}  // namespace phx::app::child_test
