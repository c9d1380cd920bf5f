#include "apps/phoenix/mesh/progress.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <atomic>
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
    std::array<char, 1024> bytes{};
    const ssize_t size = ::pread(::fileno(file_), bytes.data(), bytes.size(), 0);
    return {bytes.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
  }

 private:
  std::FILE* file_;
  int before_;
};

}  // namespace

TEST_CASE("after two seconds it says what is computed, since when, and how far that is") {
  Stderr captured;
  std::atomic<Instant> now{Instant{} + 1h};
  {
    Progress progress([&] { return now.load(); });
    progress.begin("the first");
    now = now.load() + 1500ms;
    progress.begin("the second");
    progress.reach(10s, 40s);
    now = now.load() + 300ms;
    progress.reach(20s, 40s);
    now = now.load() + 600ms;
    for (int i = 0; i < 2000 && captured.text().empty(); ++i) std::this_thread::sleep_for(10ms);
  }
  const std::string text = captured.text();

  CAPTURE(text);
  CHECK(text.find("the first") == std::string::npos);
  CHECK(text.starts_with("phoenix: waiting since "));
  CHECK(text.find(" for the second (0 s so far; 20 of 40 s of virtual time, some 1 s left") !=
        std::string::npos);
}

}  // namespace phx::app::progress_test
