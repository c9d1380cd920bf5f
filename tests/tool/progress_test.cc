#include "apps/phoenix/mesh/progress.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <thread>

namespace phx::app::progress_test {
namespace {

/// What goes to stderr meanwhile.
class Stderr {
 public:
  Stderr() : file_(std::tmpfile()), before_(::dup(STDERR_FILENO)) {
    ::dup2(::fileno(file_), STDERR_FILENO);
  }
  ~Stderr() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    std::fclose(file_);
  }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;

  std::string text() {
    std::rewind(file_);
    std::array<char, 1024> bytes{};
    return {bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file_)};
  }

 private:
  std::FILE* file_;
  int before_;
};

}  // namespace

TEST_CASE("after two seconds it says what is computed, since when, and how far that is") {
  Stderr captured;
  {
    Progress progress;
    progress.begin("the first");
    std::this_thread::sleep_for(1500ms);
    progress.begin("the second");
    progress.reach(10s, 40s);
    std::this_thread::sleep_for(300ms);
    progress.reach(20s, 40s);
    std::this_thread::sleep_for(600ms);
  }
  const std::string text = captured.text();

  CAPTURE(text);
  CHECK(text.find("the first") == std::string::npos);
  CHECK(text.starts_with("phoenix: waiting since "));
  CHECK(text.find(" for the second (0 s so far; 20 of 40 s of virtual time, some ") !=
        std::string::npos);
}

}  // namespace phx::app::progress_test
