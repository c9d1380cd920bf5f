// The rules of the house, applied to the project itself. planted_test.cc shows that each can fail.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/style/rules.h"

namespace phx::style::style_test {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), "cannot read " << path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::istringstream in(read(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

/// What a command of the shell prints.
std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 4096> chunk{};
  while (std::fgets(chunk.data(), static_cast<int>(chunk.size()), pipe.get()) != nullptr) {
    output += chunk.data();
  }
  return output;
}

std::string nm(const std::string& options, const std::string& file) {
  const std::string command = std::string(PHX_STYLE_NM) + " " + options + " '" + file + "'";
  std::string output = output_of(command);
  REQUIRE_MESSAGE(!output.empty(), command << " says nothing");
  return output;
}

/// What git tracks: a clone is also where people work, and what they make there is theirs. Of a
/// copy without git all files are ours.
std::vector<std::string> files() {
  const std::filesystem::path root = PHX_STYLE_ROOT;
  std::vector<std::string> paths;
  std::istringstream tracked(output_of("git -c safe.directory='*' -c core.quotePath=false -C '" +
                                       root.string() + "' ls-files 2>/dev/null"));
  for (std::string path; std::getline(tracked, path);) paths.push_back(path);
  if (!paths.empty()) return paths;
  for (auto it = std::filesystem::recursive_directory_iterator(root), end = decltype(it){};
       it != end; ++it) {
    const std::string path = it->path().lexically_relative(root).generic_string();
    if (path == ".git" || path == "build" || path == ".cache") {
      it.disable_recursion_pending();
    } else if (it->is_regular_file() && path != ".git" && path != "compile_commands.json") {
      paths.push_back(path);
    }
  }
  return paths;
}

/// The archives and object files of the build, as pairs of kind and path.
std::vector<std::pair<std::string, std::string>> binaries() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& line : read_lines(PHX_STYLE_BINARIES)) {
    const std::size_t bar = line.find('|');
    all.emplace_back(line.substr(0, bar), line.substr(bar + 1));
  }
  return all;
}

const SourceTree& project() {
  static const SourceTree tree = SourceTree::load(PHX_STYLE_ROOT);
  return tree;
}

void expect_none(const Violations& violations) {
  CHECK_MESSAGE(violations.empty(), violations.size() << " violations:" << to_string(violations));
}

}  // namespace

TEST_SUITE_BEGIN("style");

TEST_CASE("include_rules: a file includes only what its layer may use") {
  expect_none(include_rules(project(), parse_layers(read(PHX_STYLE_BUILD "/layers.txt"))));
}

TEST_CASE("simulator: the tool and the daemon do without it") {
  expect_none(simulator_rules(parse_layers(read(PHX_STYLE_BUILD "/layers.txt"))));
}

TEST_CASE("standard_headers: a file includes the standard headers of what it names") {
  expect_none(standard_header_rules(project()));
}

TEST_CASE("core_is_pure: the archives of the core import nothing of the outside world") {
  int archives = 0;
  for (const auto& [kind, path] : binaries()) {
    if (kind != "core") continue;
    ++archives;
    expect_none(symbol_rules(path, nm("-uC", path)));
  }
  CHECK(archives > 0);
}

TEST_CASE("core_is_pure: the sources of the core are deterministic") {
  expect_none(purity_rules(project()));
}

TEST_CASE("layout: the top level and the folders hold what the layout says") {
  expect_none(layout_rules(files()));
}

TEST_CASE("dead_files: every C++ file belongs to exactly one target") {
  std::vector<std::string> listed;
  for (const std::string& path : read_lines(PHX_STYLE_BUILD "/files.txt")) {
    listed.push_back(
        std::filesystem::path(path).lexically_relative(PHX_STYLE_ROOT).generic_string());
  }
  expect_none(dead_file_rules(project(), listed));
}

TEST_CASE("unused_functions: what a library offers is used, tests not counted") {
  std::vector<ObjectFile> objects;
  std::vector<std::string> exempt;
  for (const auto& [kind, path] : binaries()) {
    for (ObjectFile& object : parse_nm(nm("-C", path))) {
      object.name = path + "/" + object.name;
      if (kind == "product") exempt.push_back(object.name);
      objects.push_back(std::move(object));
    }
  }
  expect_none(unused_function_rules(project(), objects, exempt));
}

TEST_CASE("budgets: lines, files, functions and parameter lists stay small") {
  expect_none(budget_rules(project()));
}

TEST_CASE("headers: every header opens with #pragma once") {
  expect_none(header_rules(project()));
}

TEST_CASE("test_names: ctest can select every test case") {
  expect_none(test_name_rules(project()));
}

TEST_CASE("exceptions: nothing below the api throws or catches") {
  expect_none(exception_rules(project()));
}

TEST_CASE("chains: no more than three else-ifs in a row") {
  expect_none(chain_rules(project()));
}

TEST_CASE("words: types and files are named in the words of the glossary") {
  expect_none(word_rules(project()));
}

TEST_CASE("leftovers: no reminders, conflict markers or disabled tests") {
  expect_none(leftover_rules(project()));
}

TEST_CASE("citations: cited papers and documents exist") {
  expect_none(citation_rules(project()));
}

TEST_SUITE_END();

}  // namespace phx::style::style_test
