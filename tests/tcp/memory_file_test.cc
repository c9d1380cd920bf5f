#include "runtime/tcp/memory_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/tcp/rings.h"
#include "runtime/tcp/shared_blocks.h"
#include "tests/support/small_files.h"

namespace phx::tcp::memory_file_test {

TEST_SUITE_BEGIN("tcp/memory_file");

TEST_CASE("a file in memory has its size for ever, and others are told apart") {
  const Descriptor file = make_memory_file("test", 8192);
  const Descriptor other(::memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(file.is_open());
  REQUIRE(::ftruncate(other.get(), 8192) == 0);

  CHECK(::ftruncate(file.get(), 4096) != 0);
  CHECK(::ftruncate(file.get(), 16384) != 0);
  CHECK(is_memory_file(file, 8192));
  CHECK_FALSE(is_memory_file(file, 4096));
  CHECK_FALSE(is_memory_file(other, 8192));
}

// Trying it would end this process with SIGXFSZ.
TEST_CASE("where files may not be that long there is none, and no rings and no pool") {
  const support::SmallFiles small(4096);

  CHECK(make_memory_file("test", 4096).is_open());
  CHECK_FALSE(make_memory_file("test", 4097).is_open());
  CHECK(Rings::make() == nullptr);
  CHECK(BlockPool::create() == nullptr);
}

TEST_SUITE_END();

}  // namespace phx::tcp::memory_file_test
