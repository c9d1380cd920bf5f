#include "apps/experiments/results.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "apps/experiments/networks.h"
#include "apps/phoenix/command_line/verb.h"

namespace phx::app::results_test {
namespace {

namespace fs = std::filesystem;

/// A new folder, gone at the end.
struct Folder {
  Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path = fs::temp_directory_path() / "phoenix-results-XXXXXX";
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("files are called by what they hold") {
  ExperimentOptions options{.name = "sizes"};
  CHECK(name_of_results("sizes", options) == "sizes");
  options.seed = 2;
  options.reduce = true;
  options.topology = "some/where/narrow.topology";
  options.topology_mark = topology_mark("site A 2 100\n");
  const std::string name = name_of_results("sizes", options);
  CHECK(name == "sizes-narrow-" + options.topology_mark + "-reduce-seed2");
  options.topology_mark = topology_mark("site A 3 100\n");
  CHECK(name_of_results("sizes", options) != name);
  options = {.name = "fig7", .adaptive = true};
  CHECK(name_of_results("fig7", options) == "fig7-adaptive");
}

TEST_CASE("what makes them again is a command line, whatever the file is called") {
  CHECK(command_line({.name = "sizes", .topology = "my net"}) ==
        "phoenix experiment sizes --topology 'my net' --seed 1");
}

TEST_CASE("files say what makes them again, and none is left unfinished") {
  const Folder folder;
  const ExperimentOptions options{.name = "sizes", .out = folder.path + "/new/one", .reduce = true};
  CHECK(show(options, {"sizes-reduce", "table\n", "a,b\n", {{"sizes-reduce", Plot{}}}}) == kOk);

  const std::string line = "phoenix experiment sizes --reduce --seed 1";
  CHECK(text_of(options.out + "/sizes-reduce.txt") == line + "\ntable\n");
  CHECK(text_of(options.out + "/sizes-reduce.csv") == "a,b\n");
  CHECK(text_of(options.out + "/sizes-reduce.svg").find("<desc>" + line) != std::string::npos);
  CHECK(std::distance(fs::directory_iterator(options.out), {}) == 3);
}

TEST_CASE("what cannot be written leaves nothing, also not less than there was") {
  const Folder folder;
  const ExperimentOptions options{.name = "agm", .out = folder.path};
  fs::create_directory(folder.path + "/agm.csv");
  CHECK(show(options, {"agm", "table\n", "a\n"}) == kUsage);

  CHECK(fs::is_directory(folder.path + "/agm.csv"));
  CHECK(text_of(folder.path + "/agm.txt") == "phoenix experiment agm --seed 1\ntable\n");
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 2);
}

TEST_CASE("a folder is tried without being made") {
  const Folder folder;
  CHECK(try_folder(folder.path).ok());
  CHECK(try_folder(folder.path + "/new/one/").ok());
  CHECK(fs::is_empty(folder.path));

  std::ofstream(folder.path + "/file").put('x');
  const Status status = try_folder(folder.path + "/file/new");
  REQUIRE(!status.ok());
  CHECK(status.error().what == "cannot write to " + folder.path + "/file/new: Not a directory");
  fs::create_symlink("nowhere", folder.path + "/link");
  CHECK(!try_folder(folder.path + "/link").ok());
}

}  // namespace phx::app::results_test
