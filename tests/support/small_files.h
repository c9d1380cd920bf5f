#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>

namespace phx::support {

/// As long as it lives, no file that this process writes may be longer (ulimit -f).
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit little{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
  }
  ~SmallFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace phx::support
