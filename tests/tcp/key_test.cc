#include "runtime/tcp/key.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <vector>

#include "tests/tcp/folder.h"

namespace phx::tcp::key_test {

TEST_SUITE_BEGIN("tcp/key");

TEST_CASE("a new key is readable by its owner alone, and reads back") {
  const test::Folder folder;

  const auto made = create_key(folder / "key");
  REQUIRE(made.ok());
  const auto read = read_key(folder / "key");

  REQUIRE(read.ok());
  CHECK(read.value() == made.value());
  struct stat status {};
  REQUIRE(::stat((folder / "key").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
}

TEST_CASE("two keys differ") {
  const test::Folder folder;

  const auto one = create_key(folder / "one");
  const auto two = create_key(folder / "two");

  REQUIRE(one.ok());
  REQUIRE(two.ok());
  CHECK(one.value() != two.value());
}

TEST_CASE("a key that exists is never overwritten") {
  const test::Folder folder;
  const auto first = create_key(folder / "key");
  REQUIRE(first.ok());

  const auto second = create_key(folder / "key");

  REQUIRE(!second.ok());
  CHECK(second.error().code == ErrorCode::kBusy);
  CHECK(read_key(folder / "key").value() == first.value());
}

TEST_CASE("of several who make a key at once one does, and the others read it whole") {
  constexpr int kRounds = 20;
  constexpr int kMakers = 4;
  const test::Folder folder;
  for (int round = 0; round < kRounds; ++round) {
    const std::string path = folder / std::to_string(round);
    std::vector<std::future<Result<MeshKey>>> makers;
    for (int i = 0; i < kMakers; ++i) {
      makers.push_back(std::async(std::launch::async, [&path] {
        Result<MeshKey> made = create_key(path);
        return made.ok() ? made : read_key(path);
      }));
    }
    const Result<MeshKey> first = makers.front().get();
    REQUIRE(first.ok());
    for (int i = 1; i < kMakers; ++i) {
      const Result<MeshKey> other = makers[static_cast<std::size_t>(i)].get();
      REQUIRE(other.ok());
      CHECK(other.value() == first.value());
    }
  }
  const std::filesystem::directory_iterator left(std::filesystem::path(folder / "0").parent_path());
  CHECK(std::distance(begin(left), end(left)) == kRounds);
}

TEST_CASE("a key that others may read is refused, and the error says what to do") {
  const test::Folder folder;
  REQUIRE(create_key(folder / "key").ok());
  for (const mode_t mode : {0640U, 0604U, 0620U, 0644U}) {
    CAPTURE(mode);
    REQUIRE(::chmod((folder / "key").c_str(), mode) == 0);

    const auto key = read_key(folder / "key");

    REQUIRE(!key.ok());
    CHECK(key.error().code == ErrorCode::kDenied);
    CHECK(key.error().what.find("chmod 600") != std::string::npos);
  }
}

TEST_CASE("a folder that others can write is refused, unless it is sticky") {
  const test::Folder folder;
  const std::string shared = folder / "shared";
  const std::string key = shared + "/key";
  REQUIRE(::mkdir(shared.c_str(), 0700) == 0);
  REQUIRE(create_key(key).ok());
  REQUIRE(::symlink(key.c_str(), (folder / "link").c_str()) == 0);
  for (const mode_t mode : {0770U, 0707U, 0777U}) {
    CAPTURE(mode);
    REQUIRE(::chmod(shared.c_str(), mode) == 0);
    for (const std::string& path : {key, folder / "link"}) {
      const auto read = read_key(path);
      REQUIRE(!read.ok());
      CHECK(read.error().code == ErrorCode::kDenied);
      CHECK(read.error().what.find("chmod go-w " + shared) != std::string::npos);
    }
  }

  REQUIRE(::chmod(shared.c_str(), 01777) == 0);
  CHECK(read_key(key).ok());
  REQUIRE(::chmod(shared.c_str(), 0755) == 0);
  CHECK(read_key(folder / "link").ok());
}

TEST_CASE("a key, or its folder, of another user is refused, if this one can make such a thing") {
  constexpr uid_t kOther = 12345;
  const test::Folder folder;
  const std::string theirs = folder / "theirs";
  const std::string key = theirs + "/key";
  REQUIRE(::mkdir(theirs.c_str(), 0700) == 0);
  REQUIRE(create_key(key).ok());
  if (::chown(key.c_str(), kOther, static_cast<gid_t>(-1)) != 0) return;  // only root may
  CHECK(read_key(key).error().code == ErrorCode::kDenied);
  CHECK(read_key(key).error().what.find("belongs to another user (12345)") != std::string::npos);

  REQUIRE(::chown(key.c_str(), 0, static_cast<gid_t>(-1)) == 0);
  CHECK(read_key(key).ok());
  REQUIRE(::chown(theirs.c_str(), kOther, static_cast<gid_t>(-1)) == 0);
  CHECK(read_key(key).error().code == ErrorCode::kDenied);
  CHECK(read_key(key).error().what.find("its folder " + theirs + " belongs") != std::string::npos);
}

TEST_CASE("what is missing, a directory, or no key is told apart") {
  const test::Folder folder;
  std::ofstream(folder / "short") << "0123456789abcdef\n";
  std::ofstream(folder / "letters") << std::string(64, 'x') << '\n';
  std::ofstream(folder / "long") << std::string(66, 'a');
  for (const char* name : {"short", "letters", "long"}) {
    REQUIRE(::chmod((folder / name).c_str(), 0600) == 0);
    CHECK(read_key(folder / name).error().code == ErrorCode::kBadInput);
  }
  CHECK(read_key(folder / "nothing").error().code == ErrorCode::kNotFound);
  CHECK(read_key(folder / ".").error().code == ErrorCode::kBadInput);
  CHECK(create_key(folder / "no/such/directory").error().code == ErrorCode::kDenied);
}

TEST_SUITE_END();

}  // namespace phx::tcp::key_test
