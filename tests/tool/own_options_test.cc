#include "apps/phoenix/command_line/own_options.h"

#include <doctest/doctest.h>

#include <CLI/CLI.hpp>
#include <sstream>

namespace phx::app::own_options_test {

/// What own_options() finds behind `run`, with blanks between.
std::string found_in(const std::string& line, bool starts_program = true) {
  CLI::App tool;
  CLI::App* verb = tool.add_subcommand("run");
  int number = 0;
  bool flag = false;
  std::vector<std::string> list;
  verb->add_option("-n,--vnodes", number);
  verb->add_option("--timeout", number);
  verb->add_option("-x,--env", list);
  verb->add_flag("-d,--detach", flag);
  verb->positionals_at_end(starts_program);
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  std::string text;
  for (const std::string* word : own_options(*verb, words.data(), words.data() + words.size())) {
    text += (text.empty() ? "" : " ") + *word;
  }
  return text;
}

TEST_CASE("options end where the program begins") {
  CHECK(found_in("-n 2 ./app -np 3 --timeout 5") == "-n");
  CHECK(found_in("-np 2 --timeout 5 ./app -np 3") == "-np --timeout");
  CHECK(found_in("-n2 ./app --timeout 5") == "-n2");
  CHECK(found_in("-dn 2 ./app --timeout 5") == "-dn");
  CHECK(found_in("-d ./app --timeout 5") == "-d");
  CHECK(found_in("--timeout=5 -d -- ./app -d") == "--timeout=5 -d");
}

TEST_CASE("values of options are no options") {
  CHECK(found_in("-n --timeout -d") == "-n -d");
  CHECK(found_in("-x A B -d ./app -d") == "-x -d");
}

TEST_CASE("options of a verb that starts no program stand anywhere") {
  CHECK(found_in("p1 --timeout 5 p2 -d", false) == "--timeout -d");
}

}  // namespace phx::app::own_options_test
