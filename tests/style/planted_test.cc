// Each rule is shown a tree that breaks it, and one that nearly does.
#include <doctest/doctest.h>

#include <cstdio>
#include <memory>

#include "tests/style/rules.h"

namespace phx::style::planted_test {
namespace {

SourceTree tree_of(std::string path, std::string_view text) {
  SourceTree tree;
  tree.add(std::move(path), text);
  return tree;
}

std::string repeated(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

const std::vector<Layer> kLayers = parse_layers(
    "overlay|overlay,overlay/base|\n"
    "runtime/tcp|runtime/tcp,runtime,overlay/base|asio,posix\n"
    "tests/overlay|tests/overlay|\n");

std::size_t includes_of(const std::string& path, const std::string& line) {
  return include_rules(tree_of(path, line), kLayers).size();
}

}  // namespace

TEST_SUITE_BEGIN("style/planted");

TEST_CASE("include_rules finds layers that are not used, strangers and short paths") {
  CHECK(includes_of("overlay/a.cc", "#include \"overlay/base/ids.h\"") == 0);
  CHECK(includes_of("overlay/a.cc", "#include <vector>") == 0);
  CHECK(includes_of("overlay/a.cc", "#include \"collectives/messages.h\"") == 1);
  CHECK(includes_of("overlay/a.cc", "#include \"ids.h\"") == 1);
  CHECK(includes_of("overlay/a.cc", "#include <asio.hpp>") == 1);
  CHECK(includes_of("overlay/a.cc", "#include <sys/socket.h>") == 1);
  CHECK(includes_of("runtime/tcp/a.cc", "#include <asio/ip/tcp.hpp>") == 0);
  CHECK(includes_of("runtime/tcp/a.cc", "#include <sys/socket.h>") == 0);
  CHECK(includes_of("runtime/tcp/a.cc", "#include <google/protobuf/message.h>") == 1);
  CHECK(includes_of("tests/overlay/a.cc", "#include <doctest/doctest.h>") == 0);
}

TEST_CASE("simulator finds a folder of the tool that uses it") {
  const auto found = [](const std::string& line) {
    return simulator_rules(parse_layers(line)).size();
  };
  CHECK(found("apps/phoenix/mesh|apps/phoenix/mesh,runtime/sim|\n") == 1);
  CHECK(found("apps/phoenixd|apps/phoenixd,runtime/sim|\n") == 1);
  CHECK(found("apps/phoenix/mesh|apps/phoenix/mesh,overlay/network|\n") == 0);
  CHECK(found("apps/experiments|apps/experiments,runtime/sim|\n") == 0);
}

TEST_CASE("dead_files finds files of no target and files of two") {
  const SourceTree tree = tree_of("overlay/a.cc", "");
  CHECK(dead_file_rules(tree, {"overlay/a.cc"}).empty());
  CHECK(dead_file_rules(tree, {}).size() == 1);
  CHECK(dead_file_rules(tree, {"overlay/a.cc", "overlay/a.cc"}).size() == 1);
}

TEST_CASE("layout finds files that have no room") {
  CHECK(layout_rules({"README.md", ".ci/run", "overlay/base/ids.h", "runtime/README.md",
                      "runtime/wire/phoenix.proto", "deploy/setup.sh", "apps/demos/start.png"})
            .empty());
  CHECK(layout_rules({"src/a.cc"}).size() == 1);
  CHECK(layout_rules({"notes.txt"}).size() == 1);
  CHECK(layout_rules({"overlay/a.cc.orig"}).size() == 1);
  CHECK(layout_rules({"runtime/wire/notes.txt"}).size() == 1);
  CHECK(layout_rules({"overlay/LatencyTree.cc"}).size() == 1);
}

TEST_CASE("standard_headers finds a name whose header is missing") {
  const auto missing = [](const std::string& text) {
    return standard_header_rules(tree_of("overlay/a.h", text)).size();
  };
  CHECK(missing("#include <vector>\nstd::vector<int> a;\n") == 0);
  CHECK(missing("#include <string>\nstd::vector<int> a;\n") == 1);
  CHECK(missing("// std::vector\nconst char* a = \"std::vector\";\n") == 0);
  CHECK(missing("#include <span>\nstd::byte a = std::ranges::max(b);\n") == 1);
  CHECK(missing("std::no_such_thing a;\n") == 1);

  SourceTree tree = tree_of("overlay/a.h", "#include \"overlay/b.h\"\nstd::optional<int> a;\n");
  CHECK(standard_header_rules(tree).size() == 1);
  tree.add("overlay/b.h", "#include <optional>\n");
  CHECK(standard_header_rules(tree).empty());
}

TEST_CASE("headers finds a header that can be included twice") {
  CHECK(header_rules(tree_of("overlay/a.h", "// What it is.\n#pragma once\n")).empty());
  CHECK(header_rules(tree_of("overlay/a.h", "#include <vector>\n#pragma once\n")).size() == 1);
}

TEST_CASE("test_names finds names that ctest would cut in two") {
  CHECK(test_name_rules(tree_of("tests/a_test.cc",
                                "TEST_"
                                "CASE(\"a, b\") {"))
            .empty());
  CHECK(test_name_rules(tree_of("tests/a_test.cc",
                                "TEST_"
                                "CASE(\"a; b\") {"))
            .size() == 1);
}

TEST_CASE("core_is_pure finds clocks, chance, threads and statics that change") {
  const auto count = [](const std::string& line) {
    return purity_rules(tree_of("runtime/daemon.cc", line)).size();
  };
  CHECK(count("auto t = std::chrono::steady_clock::now();") == 1);
  CHECK(count("std::random_device seed;") == 1);
  CHECK(count("std::thread t(f);") == 1);
  CHECK(count("  static int calls = 0;") == 1);
  CHECK(count("static bool is_seeded;") == 1);
  CHECK(count("std::unordered_map<int, int> m;") == 1);
  CHECK(count("// For lookup only.\nstd::unordered_map<int, int> m;") == 0);
  CHECK(count("static constexpr int kLimit = 3;") == 0);
  CHECK(count("static const std::vector<int> kTable = {1};") == 0);
  CHECK(count("  static Daemon create(int a);") == 0);
  CHECK(count("// never steady_clock") == 0);
  CHECK(purity_rules(tree_of("runtime/sim/a.cc", "std::mutex m;")).size() == 1);
  CHECK(purity_rules(tree_of("runtime/tcp/a.cc", "std::mutex m;")).empty());
}

TEST_CASE("core_is_pure and unused_functions see into a real archive") {
  const std::string command = std::string(PHX_STYLE_NM) + " -C '" PHX_STYLE_IMPURITY "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  REQUIRE(pipe != nullptr);
  std::string output;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
    output += static_cast<char>(c);
  }

  CHECK(symbol_rules("planted", output).size() == 1);
  const Violations unused = unused_function_rules({}, parse_nm(output), {});
  REQUIRE(unused.size() == 1);
  CHECK(unused[0].what.starts_with("phx::planted::used_by_nobody()"));
}

TEST_CASE("unused_functions accepts what is used and what is exempt, but not the use by a test") {
  const ObjectFile offers{"a.o", {"phx::C::f(int)"}, {}};
  SourceTree tree;
  tree.add("overlay/a.h", "class C { void f(int); };");
  tree.add("overlay/a.cc", "void C::f(int) {}  // f f f");
  tree.add("tests/overlay/a_test.cc", "f(1); f(2);");
  CHECK(unused_function_rules(tree, {offers}, {}).size() == 1);
  CHECK(unused_function_rules(tree, {offers}, {"a.o"}).empty());
  CHECK(unused_function_rules(tree, {offers, {"b.o", {}, {"phx::C::f(int)"}}}, {}).empty());
  tree.add("overlay/a.cc", "void C::g(int) { f(1); }\nvoid C::f(int) {}");
  CHECK(unused_function_rules(tree, {offers}, {}).empty());
}

TEST_CASE("budgets finds long lines and long files") {
  CHECK(budget_rules(tree_of("overlay/a.cc", std::string(100, 'x'))).empty());
  CHECK(budget_rules(tree_of("overlay/a.cc", std::string(101, 'x'))).size() == 1);
  CHECK(budget_rules(tree_of("overlay/a.h", repeated(150, "\n"))).empty());
  CHECK(budget_rules(tree_of("overlay/a.h", repeated(151, "\n"))).size() == 1);
  CHECK(budget_rules(tree_of("overlay/a.cc", repeated(600, "\n"))).empty());
  CHECK(budget_rules(tree_of("overlay/a.cc", repeated(601, "\n"))).size() == 1);
}

TEST_CASE("budgets finds long functions, wherever they stand") {
  const auto count = [](const std::string& head, int lines, const std::string& tail) {
    return budget_rules(tree_of("overlay/a.cc", head + repeated(lines, "  f();\n") + tail)).size();
  };
  CHECK(count("int g(int a) {\n", 58, "}\n") == 0);
  CHECK(count("int g(int a) {\n", 59, "}\n") == 1);
  CHECK(count("namespace n {\nint g(int a) {\n", 59, "}\n}\n") == 1);
  CHECK(count("namespace n {\nnamespace m {\n", 100, "}\n}\n") == 0);
  CHECK(count("class C {\n int g(int a) const noexcept {\n", 59, "}\n};\n") == 1);
  CHECK(count("struct S {\n", 100, "};\n") == 0);
  CHECK(count("C::C(int a)\n    : a_{a}, b_(a), c_{std::move(a)} {\n", 60, "}\n") == 1);
  CHECK(count("template <class T>\nauto g(const T& t) -> std::vector<T> {\n", 59, "}\n") == 1);
  CHECK(count("int g() {\n  if (a) {\n", 56, "}\n}\n") == 0);
  CHECK(count("TEST_CASE(\"a sentence\") {\n", 59, "}\n") == 1);
  CHECK(count("const char* text = \"{\";\nint g() {\n", 50, "}\n") == 0);
}

TEST_CASE("budgets finds functions of seven parameters") {
  const auto count = [](const std::string& text) {
    return budget_rules(tree_of("overlay/a.cc", text)).size();
  };
  CHECK(count("void f(int a, int b, int c, int d, int e, int f) {}") == 0);
  CHECK(count("void f(int a, int b, int c, int d, int e, int f, int g) {}") == 1);
  CHECK(count("void f(std::map<int, int> a, int b, int c, int d, int e, int f) {}") == 0);
  CHECK(count("void f(int a = g(1, 2), int b, int c, int d, int e, int f) {}") == 0);
}

TEST_CASE("exceptions finds throw and catch below the api") {
  const auto count = [](const std::string& path, const std::string& text) {
    return exception_rules(tree_of(path, text)).size();
  };
  CHECK(count("runtime/daemon.cc", "throw 1;") == 1);
  CHECK(count("runtime/tcp/a.cc", "throw 1;") == 1);
  CHECK(count("runtime/daemon.cc", "} catch (...) {") == 1);
  CHECK(count("runtime/daemon.cc", "// top of a coroutine\n} catch (...) {") == 1);
  CHECK(count("runtime/tcp/a.cc", "} catch (...) {") == 1);
  CHECK(count("runtime/tcp/a.cc", "// top of a coroutine\n} catch (...) {") == 0);
  CHECK(count("runtime/api/session.cc", "throw Error(1);") == 0);
  CHECK(count("apps/phoenix/main.cc", "} catch (...) {") == 0);
}

TEST_CASE("chains finds the fourth else-if") {
  const std::string link = "  } else if (b) {\n    g();\n";
  const auto count = [&](int links) {
    return chain_rules(tree_of("overlay/a.cc", "  if (a) {\n" + repeated(links, link) + "  }\n"))
        .size();
  };
  CHECK(count(3) == 0);
  CHECK(count(4) == 1);
  const std::string two = "  if (a) {\n" + repeated(3, link) + "  }\n";
  CHECK(chain_rules(tree_of("overlay/a.cc", two + two)).empty());
}

TEST_CASE("words finds names that the glossary replaces") {
  const auto count = [](const std::string& path, const std::string& text) {
    return word_rules(tree_of(path, text)).size();
  };
  CHECK(count("overlay/a.h", "class Node {") == 1);
  CHECK(count("overlay/a.h", "class TreeNodeCount {") == 0);
  CHECK(count("overlay/a.h", "struct PeerInfo {") == 1);
  CHECK(count("overlay/a.h", "class [[nodiscard]] LinkManager final {") == 1);
  CHECK(count("overlay/a.h", "enum class PacketKind {") == 1);
  CHECK(count("overlay/a.h", "using JobContext = int;") == 1);
  CHECK(count("overlay/a.h", "struct Informed {") == 0);
  CHECK(count("overlay/a.h", "class Dating {") == 0);
  CHECK(count("overlay/a.h", "struct Event {") == 1);
  CHECK(count("overlay/base/outbox.h", "struct Event {") == 0);
  CHECK(count("overlay/a.h", "  using Event = std::variant<A, B>;") == 0);
  CHECK(count("overlay/string_util.h", "") == 1);
  CHECK(count("runtime/mpi/rank.h", "class Rank {") == 0);
  CHECK(count("apps/phoenix/host_file.h", "struct HostFile {") == 0);
}

TEST_CASE("leftovers finds reminders, conflict markers and tests that do not run") {
  const auto count = [](const std::string& text, const std::string& path = "overlay/a.cc") {
    return leftover_rules(tree_of(path, text)).size();
  };
  CHECK(count(std::string("// TO") + "DO: later") == 1);
  CHECK(count(std::string("// FIX") + "ME") == 1);
  CHECK(count("<<<<"
              "<<< HEAD") == 1);
  CHECK(count("===="
              "===") == 1);
  CHECK(count("// TEST_"
              "CASE(\"x\") {") == 1);
  CHECK(count("TEST_CASE(\"x\" * doctest::"
              "skip()) {") == 1);
  CHECK(count("inline doctest::"
              "skip long_search()",
              "tests/support/seeds.h") == 0);
  CHECK(count("// ============ a line that is longer") == 0);
}

TEST_CASE("citations finds papers without bibliography and documents that do not exist") {
  SourceTree tree;
  tree.add("overlay/README.md", "## Bibliography\n- [Saito08] Saito, Taura, Chikayama.\n");
  tree.add("overlay/a.h", "/// [Saito08 s.3], [Saito08], overlay/README.md\nint a[10];\n");
  tree.add("overlay/base/b.h", "/// [Saito08 E1], see README.md\n");
  CHECK(to_string(citation_rules(tree)) == "\noverlay/base/b.h:1: README.md does not exist");
  tree.add("overlay/base/b.h", "/// [Saito08 E1], see ../README.md\n");
  CHECK(citation_rules(tree).empty());
  tree.add("overlay/c.h", "/// [Taura03 s.2], papers/lost.md\n");
  CHECK(citation_rules(tree).size() == 2);
}

TEST_SUITE_END();

}  // namespace phx::style::planted_test
