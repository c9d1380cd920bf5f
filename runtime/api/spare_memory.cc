#include "runtime/api/spare_memory.h"

#include <sys/mman.h>

#include <bit>
#include <utility>
#include <vector>

namespace phx {
namespace {

constexpr std::size_t rounded(std::size_t size) {
  if (size < SpareMemory::kLargePage) return std::bit_ceil(size);
  return (size + SpareMemory::kLargePage - 1) / SpareMemory::kLargePage * SpareMemory::kLargePage;
}

/// REQUIRES a whole number of large pages. Nothing if the system has none.
std::byte* map(std::size_t size) {
  // One page more than needed, to begin at a page's border; what is beside goes back.
  constexpr std::size_t kPage = SpareMemory::kLargePage;
  void* all =
      ::mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  void* room = all;
  std::size_t space = size + kPage;
  std::align(kPage, size, room, space);
  auto* const begin = static_cast<std::byte*>(room);
  const std::size_t before = size + kPage - space;
  if (before > 0) ::munmap(all, before);
  if (space > size) ::munmap(begin + size, space - size);
  ::madvise(room, size, MADV_HUGEPAGE);  // the system may refuse: then the pages are small
  return begin;
}

SpareMemory::Block make(std::size_t size) {
  if (size >= SpareMemory::kLargePage) {
    if (std::byte* const mapped = map(size)) return {size, {mapped, {size}}};
  }
  return {size, {std::make_unique_for_overwrite<std::byte[]>(size).release(), {}}};
}

/// Goes back to the memory of the process when the last one that reads it is done.
struct Lent {
  explicit Lent(std::size_t size) : block(SpareMemory::of_process().take(size)) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { SpareMemory::of_process().give(std::move(block)); }
  SpareMemory::Block block;
};

}  // namespace

void FreeMemory::operator()(std::byte* bytes) const {
  if (mapped > 0) {
    ::munmap(bytes, mapped);
  } else {
    delete[] bytes;
  }
}

SpareMemory& SpareMemory::of_process() {
  static SpareMemory& all = *new SpareMemory;  // threads of the runtime may outlive main()
  return all;
}

SpareMemory::Block SpareMemory::take(std::size_t size) {
  if (size < kLeast) return make(size);
  size = rounded(size);
  {
    const std::unique_lock lock(mutex_);
    const auto found = blocks_.lower_bound(size);
    if (found != blocks_.end() && found->first <= size + size / 4) {
      Block block{found->first, std::move(found->second)};
      blocks_.erase(found);
      kept_ -= block.size;
      return block;
    }
  }
  return make(size);
}

void SpareMemory::give(Block block) {
  if (block.bytes == nullptr || block.size < kLeast || block.size > kMost) return;
  std::vector<std::unique_ptr<std::byte[], FreeMemory>> old;  // freed without the lock
  const std::unique_lock lock(mutex_);
  while (kept_ + block.size > kMost) {
    auto found = blocks_.lower_bound(kept_ + block.size - kMost);
    if (found == blocks_.end()) --found;
    kept_ -= found->first;
    old.push_back(std::move(found->second));
    blocks_.erase(found);
  }
  kept_ += block.size;
  blocks_.emplace(block.size, std::move(block.bytes));
}

std::size_t SpareMemory::kept() const {
  const std::unique_lock lock(mutex_);
  return kept_;
}

std::shared_ptr<std::byte[]> lend(std::size_t size) {
  if (size < SpareMemory::kLeast) return std::make_shared_for_overwrite<std::byte[]>(size);
  auto lent = std::make_shared<Lent>(size);
  std::byte* const begin = lent->block.bytes.get();
  return {std::move(lent), begin};
}

}  // namespace phx
