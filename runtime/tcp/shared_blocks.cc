#include "runtime/tcp/shared_blocks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>

#include "runtime/tcp/memory_file.h"

namespace phx::tcp {
namespace {

/// Between two counters: so that two processors do not share a line of the cache.
constexpr std::size_t kCounterStride = 64;
static_assert(SharedMapping::kBlocks * kCounterStride <= SharedMapping::kBlocksAt);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace

std::unique_ptr<SharedMapping> SharedMapping::map(int file, bool writable) {
  void* counters = ::mmap(nullptr, kBlocksAt, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (counters == MAP_FAILED) return nullptr;
  const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* blocks = ::mmap(nullptr, kBlocks * kBlockBytes, access, MAP_SHARED, file, kBlocksAt);
  if (blocks == MAP_FAILED) {
    ::munmap(counters, kBlocksAt);
    return nullptr;
  }
  return std::unique_ptr<SharedMapping>(
      new SharedMapping(static_cast<std::byte*>(counters), static_cast<std::byte*>(blocks)));
}

SharedMapping::~SharedMapping() {
  ::munmap(counters_, kBlocksAt);
  ::munmap(blocks_, kBlocks * kBlockBytes);
}

std::atomic<std::uint32_t>& SharedMapping::loans(std::size_t block) const {
  PHX_CHECK(block < kBlocks);
  // All zero bytes are a counter of 0: the file begins as such.
  return *reinterpret_cast<std::atomic<std::uint32_t>*>(counters_ + block * kCounterStride);
}

std::byte* SharedMapping::block(std::size_t block) const {
  PHX_CHECK(block < kBlocks);
  return blocks_ + block * kBlockBytes;
}

std::shared_ptr<BlockPool> BlockPool::create() {
  Descriptor file = make_memory_file("phoenix-blocks", SharedMapping::kBytes);
  if (!file.is_open()) return nullptr;
  auto mapping = SharedMapping::map(file.get(), true);
  if (!mapping) return nullptr;
  return std::shared_ptr<BlockPool>(new BlockPool(std::move(file), std::move(mapping)));
}

std::shared_ptr<std::byte[]> BlockPool::take() {
  for (std::size_t block = 0; block < owned_.size(); ++block) {
    if (owned_[block].exchange(true, std::memory_order_acquire)) continue;
    if (mapping_->loans(block).load(std::memory_order_acquire) == 0) {
      return {mapping_->block(block), [pool = shared_from_this(), block](std::byte*) {
                pool->owned_[block].store(false, std::memory_order_release);
              }};
    }
    owned_[block].store(false, std::memory_order_release);
  }
  return nullptr;
}

std::optional<BlockPool::Place> BlockPool::find(const Payload& payload) const {
  const std::less<> before;
  const std::byte* begin = mapping_->block(0);
  const std::byte* at = payload.bytes().data();
  if (payload.empty() || before(at, begin)) return std::nullopt;
  if (!before(at, begin + SharedMapping::kBlocks * SharedMapping::kBlockBytes)) return std::nullopt;
  const auto distance = static_cast<std::size_t>(at - begin);
  return Place{static_cast<std::uint32_t>(distance / SharedMapping::kBlockBytes),
               static_cast<std::uint32_t>(distance % SharedMapping::kBlockBytes)};
}

BorrowedBlocks::BorrowedBlocks(std::unique_ptr<SharedMapping> mapping)
    : mapping_(std::move(mapping)), borrower_(::getpid()) {}

std::shared_ptr<BorrowedBlocks> BorrowedBlocks::open(pid_t process, int descriptor) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!is_memory_file(file, SharedMapping::kBytes)) return nullptr;
  auto mapping = SharedMapping::map(file.get(), false);
  if (!mapping) return nullptr;
  return std::shared_ptr<BorrowedBlocks>(new BorrowedBlocks(std::move(mapping)));
}

Result<Payload> BorrowedBlocks::take(BlockPool::Place place, std::size_t size) {
  if (place.block >= SharedMapping::kBlocks || place.offset > SharedMapping::kBlockBytes ||
      size > SharedMapping::kBlockBytes - place.offset) {
    return Error{ErrorCode::kBadInput, "a payload outside of the shared memory"};
  }
  const std::byte* begin = mapping_->block(place.block) + place.offset;
  std::shared_ptr<const void> owner(begin, [self = shared_from_this(), place](const void*) {
    // In a child that has inherited the payload the loan is not its own.
    if (::getpid() != self->borrower_) return;
    self->mapping_->loans(place.block).fetch_sub(1, std::memory_order_release);
  });
  return Payload(std::move(owner), {begin, size});
}

}  // namespace phx::tcp
