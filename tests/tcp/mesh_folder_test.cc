#include "runtime/tcp/mesh_folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/tcp/folder.h"

namespace phx::tcp::mesh_folder_test {
namespace {

constexpr uid_t kSomebodyElse = 12345;

std::string why(const Status& status) {
  return status.ok() ? "" : status.error().what;
}

/// A process that holds the lock of a file until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& path) {
    std::array<int, 2> ready{};
    REQUIRE(::pipe(ready.data()) == 0);
    process = ::fork();
    if (process == 0) {
      const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
      const char done = lock_for_life(file).ok() ? 'y' : 'n';
      if (::write(ready[1], &done, 1) == 1) ::pause();
      ::_exit(0);
    }
    char done = 0;
    REQUIRE(::read(ready[0], &done, 1) == 1);
    CHECK(done == 'y');
    for (const int end : ready) ::close(end);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { end(); }
  void end() {
    if (process <= 0) return;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    process = 0;
  }
  pid_t process = 0;
};

}  // namespace

TEST_SUITE_BEGIN("tcp/mesh_folder");

TEST_CASE("a folder is made for its owner alone, and found again") {
  const test::Folder folder;

  CHECK(check_private(folder / "a/b").ok());
  CHECK(!std::filesystem::exists(folder / "a"));
  CHECK(make_private(folder / "a/b").ok());
  CHECK(make_private(folder / "a/b/").ok());

  struct stat found {};
  REQUIRE(::stat((folder / "a").c_str(), &found) == 0);
  CHECK((found.st_mode & 0777U) == 0700);
  CHECK(check_private(folder / "a/b").ok());
}

TEST_CASE("what is no folder of our own is refused, by the maker as by the reader") {
  const test::Folder folder;
  std::filesystem::create_directory(folder / "ours");
  std::filesystem::create_symlink(folder / "ours", folder / "link");
  std::ofstream(folder / "file") << "text";
  ::mkdir((folder / "open").c_str(), 0755);
  ::mkdir((folder / "shared").c_str(), 0700);
  ::chmod((folder / "shared").c_str(), 01777);
  ::chmod((folder / "ours").c_str(), 0700);

  for (const auto accept : {&check_private, &make_private}) {
    CHECK(accept(folder / "ours").ok());
    CHECK(why(accept(folder / "link")).find("is no folder, or a symbolic link") !=
          std::string::npos);
    CHECK(why(accept(folder / "file")).find("is no folder") != std::string::npos);
    CHECK(why(accept(folder / "open")).find("chmod 700") != std::string::npos);
    const std::string shared = why(accept(folder / "shared"));
    CHECK(shared.find("can be opened by others") != std::string::npos);
    CHECK(shared.find("chmod") == std::string::npos);
  }
}

TEST_CASE("a folder that somebody else could replace, or made first, is refused") {
  const test::Folder folder;
  REQUIRE(make_private(folder / "above/ours").ok());
  ::chmod((folder / "above").c_str(), 0777);
  CHECK(why(check_private(folder / "above/ours")).find("who could replace") != std::string::npos);
  ::chmod((folder / "above").c_str(), 01777);
  CHECK(check_private(folder / "above/ours").ok());
  if (::geteuid() != 0) return;

  REQUIRE(::chown((folder / "above/ours").c_str(), kSomebodyElse, kSomebodyElse) == 0);
  CHECK(why(make_private(folder / "above/ours")).find("somebody else (user 12345)") !=
        std::string::npos);
  REQUIRE(::chown((folder / "above").c_str(), kSomebodyElse, kSomebodyElse) == 0);
  CHECK(why(make_private(folder / "above/new")).find("somebody else") != std::string::npos);
}

TEST_CASE("the process that has locked a file is found, and no other one gets a signal") {
  const test::Folder folder;
  const std::string path = folder / "p1.json";
  std::ofstream(path) << "{}";
  CHECK(!holder_of(path));
  CHECK(!holder_of(folder / "none"));
  Holder holder(path);
  CHECK(holder_of(path) == holder.process);

  signal_holder_of(path, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(holder.process, &status, 0) == holder.process);
  CHECK(WTERMSIG(status) == SIGKILL);
  holder.process = 0;
  CHECK(!holder_of(path));
  signal_holder_of(path, SIGKILL);  // nobody
}

TEST_CASE("one of another PID namespace that has locked a file has no number here, and lives") {
  const test::Folder folder;
  const std::string path = folder / "p1.json";
  std::ofstream(path) << "{}";
  const Holder holder(path);

  // Inside, where the holder has no number: 0 it was as it should be, 1 it was not, 2 no namespace.
  const pid_t outer = ::fork();
  if (outer == 0) {
    if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) ::_exit(2);
    const pid_t inner = ::fork();
    if (inner == 0) {
      const auto found = holder_of(path);
      signal_holder_of(path, SIGKILL);  // nobody: not this process, nor its group
      ::_exit(found && *found == kUnnamed ? 0 : 1);
    }
    int status = 0;
    ::waitpid(inner, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(outer, &status, 0) == outer);

  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) MESSAGE("skipped: no PID namespace can be made here");
  CHECK(WEXITSTATUS(status) != 1);
  CHECK(holder_of(path) == holder.process);
  CHECK(in_words(kUnnamed) == "in another container");
  CHECK(in_words(pid_t{7}) == "process 7");
}

TEST_CASE("a folder goes as a whole while others remove their files from it") {
  constexpr int kRounds = 50;
  constexpr int kFiles = 40;  // of which each may be missed once
  const test::Folder folder;
  for (int round = 0; round < kRounds; ++round) {
    const std::filesystem::path mesh = folder / "mesh";
    std::filesystem::create_directories(mesh / "inner");
    for (int i = 0; i < kFiles; ++i) std::ofstream(mesh / std::to_string(i)) << "{}";
    std::thread other([&] {
      std::error_code failure;
      for (int i = 0; i < kFiles; ++i) std::filesystem::remove(mesh / std::to_string(i), failure);
    });
    remove_folder(mesh);
    other.join();
    REQUIRE(!std::filesystem::exists(mesh));
  }
  remove_folder(folder / "none");
}

TEST_CASE("a lock ends with its process, and this machine has a name") {
  const test::Folder folder;
  std::ofstream(folder / "p1.json") << "{}";
  Holder holder(folder / "p1.json");

  holder.end();

  CHECK(!holder_of(folder / "p1.json"));
  CHECK(boot_id().size() == 36);
  CHECK(boot_id() == boot_id());
}

TEST_SUITE_END();

}  // namespace phx::tcp::mesh_folder_test
