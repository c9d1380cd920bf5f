#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>

namespace phx::support {

/// As long as it lives this process gets no more than 32 GiB of address space. Not where the
/// program is sanitized: there, what takes too much memory ends it [seeds.h].
class LittleMemory {
 public:
  LittleMemory() {
    REQUIRE(::getrlimit(RLIMIT_AS, &before_) == 0);
    const rlimit little{.rlim_cur = rlim_t{32} << 30U, .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_AS, &little) == 0);
  }
  ~LittleMemory() { ::setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit before_{};
};

}  // namespace phx::support
