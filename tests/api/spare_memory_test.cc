#include "runtime/api/spare_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/api/fresh_payload.h"

namespace spare_memory_test {
namespace {

using namespace phx;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

TEST_SUITE_BEGIN("api/spare_memory");

TEST_CASE("memory of what is over is used again by what is about as long") {
  SpareMemory spare;
  auto block = spare.take(50'000);
  CHECK(block.size == 65'536);
  std::byte* const place = block.bytes.get();
  spare.give(std::move(block));
  CHECK(spare.kept() == 65'536);
  CHECK(spare.take(20'000).bytes.get() != place);  // half of it would be for nothing
  CHECK(spare.take(40'000).bytes.get() == place);
  CHECK(spare.kept() == 0);

  spare.give(spare.take(100));
  CHECK(spare.kept() == 0);
}

TEST_CASE("long blocks begin at a large page, and may be written from end to end") {
  SpareMemory spare;
  for (const std::size_t size : {2 * kMiB, 2 * kMiB + 1, 5 * kMiB, 64 * kMiB + 64}) {
    CAPTURE(size);
    auto block = spare.take(size);
    CHECK((block.size >= size && block.size < size + SpareMemory::kLargePage));
    CHECK(reinterpret_cast<std::uintptr_t>(block.bytes.get()) % SpareMemory::kLargePage == 0);
    std::fill_n(block.bytes.get(), block.size, std::byte{1});
    std::byte* const place = block.bytes.get();
    spare.give(std::move(block));
    block = spare.take(size);
    CHECK(block.bytes.get() == place);
  }
}

TEST_CASE("what is kept is bounded: short blocks go for a long one, which is kept if it can be") {
  SpareMemory spare;
  std::vector<SpareMemory::Block> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(spare.take(8 * kMiB));
  for (SpareMemory::Block& block : blocks) spare.give(std::move(block));
  CHECK(spare.kept() == SpareMemory::kMost);
  spare.give({8 * kMiB, nullptr});  // nothing to keep
  spare.give(spare.take(66 * kMiB));
  CHECK(spare.kept() == 66 * kMiB);
  spare.give(spare.take(SpareMemory::kMost + 1));
  CHECK(spare.kept() == 66 * kMiB);

  blocks.clear();
  for (int i = 0; i < 3; ++i) blocks.push_back(spare.take(2 * kMiB));
  for (SpareMemory::Block& block : blocks) spare.give(std::move(block));
  CHECK(spare.kept() == 72 * kMiB);
  spare.give(spare.take(8 * kMiB));  // for the long one, and not for the three short ones
  CHECK(spare.kept() == 14 * kMiB);
}

TEST_CASE("a lent message goes back when its last copy is gone") {
  const std::size_t before = SpareMemory::of_process().kept();
  auto [memory, payload] = fresh_payload(3 * kMiB);
  std::fill_n(memory, payload.size(), std::byte{7});
  Payload part = payload.slice(2 * kMiB, kMiB);
  payload = {};
  CHECK(SpareMemory::of_process().kept() <= before);
  CHECK(std::ranges::all_of(part.bytes(), [](std::byte b) { return b == std::byte{7}; }));
  part = {};
  CHECK(SpareMemory::of_process().kept() >= 4 * kMiB);
}

TEST_SUITE_END();

}  // namespace
}  // namespace spare_memory_test
