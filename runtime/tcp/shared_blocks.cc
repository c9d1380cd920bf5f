#include "runtime/tcp/shared_blocks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <utility>

#include "runtime/tcp/memory_file.h"
#include "runtime/tcp/random_number.h"
#include "runtime/tcp/steady_now.h"

namespace phx::tcp {
namespace {

/// How often it is asked who of the borrowers has died, where blocks are short.
constexpr std::int64_t kLookPeriod = 100'000'000;

/// In the place of a process: its counters are being cleared.
constexpr std::int32_t kClearing = -1;

bool is_dead(pid_t process) {
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

/// /proc, by which others are found, knows this process by the number that it has itself. Not so in
/// a namespace of processes that has another one's /proc.
bool is_known_by_number() {
  std::array<char, 32> text{};
  const ssize_t size = ::readlink("/proc/self", text.data(), text.size() - 1);
  return size > 0 && std::to_string(::getpid()) == text.data();
}

}  // namespace

/// All zero bytes are one that nobody owns: the file begins as such.
struct SharedMapping::Head {
  struct Borrower {
    std::atomic<std::int32_t> process;  ///< 0: none; kClearing.
    std::atomic<std::uint32_t> loans;
  };
  /// Lines of the cache: two processors that deal with two blocks do not wait for each other.
  struct alignas(64) Block {
    std::array<std::atomic<std::uint8_t>, kBorrowers> loans;
    std::atomic<std::uint32_t> lent;  ///< So often, ever.
  };
  std::atomic<std::uint64_t> token;
  std::atomic<std::int32_t> owner;
  std::array<Borrower, kBorrowers> borrowers;
  std::array<Block, kBlocks> blocks;
};

std::unique_ptr<SharedMapping> SharedMapping::map(int file, bool writable) {
  static_assert(sizeof(Head) <= kBlocksAt);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  void* head = ::mmap(nullptr, kBlocksAt, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (head == MAP_FAILED) return nullptr;
  const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* blocks = ::mmap(nullptr, kBlocks * kBlockBytes, access, MAP_SHARED, file, kBlocksAt);
  if (blocks == MAP_FAILED) {
    ::munmap(head, kBlocksAt);
    return nullptr;
  }
  return std::unique_ptr<SharedMapping>(
      new SharedMapping(static_cast<std::byte*>(head), static_cast<std::byte*>(blocks)));
}

SharedMapping::~SharedMapping() {
  ::munmap(head_, kBlocksAt);
  ::munmap(blocks_, kBlocks * kBlockBytes);
}

SharedMapping::Head& SharedMapping::head() const {
  return *reinterpret_cast<Head*>(head_);
}

void SharedMapping::own(pid_t process, std::uint64_t token) {
  head().owner.store(process);
  head().token.store(token);
}

std::uint64_t SharedMapping::token() const {
  return head().token.load();
}

void SharedMapping::disown() {
  head().owner.store(0);
}

bool SharedMapping::is_orphaned() const {
  const pid_t owner = head().owner.load();
  return owner == 0 || is_dead(owner);
}

std::optional<std::uint32_t> SharedMapping::enroll(pid_t process) {
  if (const auto number = find_free(process)) return number;
  forget_the_dead();
  return find_free(process);
}

std::optional<std::uint32_t> SharedMapping::find_free(pid_t process) {
  for (std::uint32_t i = 0; i < kBorrowers; ++i) {
    std::int32_t nobody = 0;
    if (head().borrowers[i].process.compare_exchange_strong(nobody, process)) return i;
  }
  return std::nullopt;
}

void SharedMapping::leave(std::uint32_t borrower) {
  PHX_CHECK(borrower < kBorrowers);
  clear(borrower, head().borrowers[borrower].process.load());
}

/// Nobody else clears it, and nobody gets its number, meanwhile.
void SharedMapping::clear(std::uint32_t borrower, std::int32_t process) {
  Head::Borrower& one = head().borrowers[borrower];
  if (process == kClearing || !one.process.compare_exchange_strong(process, kClearing)) return;
  for (Head::Block& block : head().blocks) block.loans[borrower].store(0);
  one.loans.store(0);
  one.process.store(0);
}

bool SharedMapping::may_borrow(std::uint32_t borrower) const {
  return borrower < kBorrowers && head().borrowers[borrower].loans.load() < kShare;
}

bool SharedMapping::lend(std::uint32_t block, std::uint32_t borrower) {
  if (block >= kBlocks || borrower >= kBorrowers) return false;
  if (head().borrowers[borrower].process.load() <= 0) return false;  // it has gone
  std::atomic<std::uint32_t>& loans = head().borrowers[borrower].loans;
  if (loans.fetch_add(1, std::memory_order_relaxed) >= kShare) {
    loans.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  head().blocks[block].loans[borrower].fetch_add(1, std::memory_order_relaxed);
  head().blocks[block].lent.fetch_add(1, std::memory_order_release);
  return true;
}

void SharedMapping::give_back(std::uint32_t block, std::uint32_t borrower) {
  head().blocks[block].loans[borrower].fetch_sub(1, std::memory_order_release);
  head().borrowers[borrower].loans.fetch_sub(1, std::memory_order_relaxed);
}

bool SharedMapping::is_lent(std::size_t block) const {
  PHX_CHECK(block < kBlocks);
  const Head::Block& one = head().blocks[block];
  const std::uint32_t before = one.lent.load(std::memory_order_acquire);
  const bool is_counted = std::ranges::any_of(
      one.loans, [](const auto& loans) { return loans.load(std::memory_order_acquire) != 0; });
  // Who lends on raises the counter of the other one, then this, and lowers its own after that: it
  // may have lent to one that was looked at before, and have given back before its turn came.
  return is_counted || one.lent.load(std::memory_order_acquire) != before;
}

void SharedMapping::forget_the_dead() {
  for (std::uint32_t i = 0; i < kBorrowers; ++i) {
    const pid_t process = head().borrowers[i].process.load();
    // To one that has left, and has no number any more, something may have been lent since.
    if (process == 0 || (process > 0 && is_dead(process))) clear(i, process);
  }
}

std::byte* SharedMapping::block(std::size_t block) const {
  PHX_CHECK(block < kBlocks);
  return blocks_ + block * kBlockBytes;
}

std::optional<SharedMapping::Place> SharedMapping::find(const Payload& payload) const {
  const std::less<> before;
  const std::byte* at = payload.bytes().data();
  if (payload.empty() || before(at, blocks_)) return std::nullopt;
  if (!before(at, blocks_ + kBlocks * kBlockBytes)) return std::nullopt;
  const auto distance = static_cast<std::size_t>(at - blocks_);
  return Place{static_cast<std::uint32_t>(distance / kBlockBytes),
               static_cast<std::uint32_t>(distance % kBlockBytes)};
}

BlockPool::BlockPool(Descriptor file, std::unique_ptr<SharedMapping> mapping)
    : file_(std::move(file)), mapping_(std::move(mapping)), process_(::getpid()) {}

BlockPool::~BlockPool() {
  if (::getpid() == process_) mapping_->disown();
}

std::shared_ptr<BlockPool> BlockPool::create() {
  Descriptor file = make_memory_file("phoenix-blocks", SharedMapping::kBytes);
  if (!file.is_open()) return nullptr;
  auto mapping = SharedMapping::map(file.get(), true);
  if (!mapping) return nullptr;
  mapping->own(::getpid(), random_number());
  return std::shared_ptr<BlockPool>(new BlockPool(std::move(file), std::move(mapping)));
}

std::shared_ptr<std::byte[]> BlockPool::take() {
  if (auto block = take_free()) return block;
  const std::int64_t now = steady_now().time_since_epoch().count();
  std::int64_t last = looked_at_.load();
  if (now - last < kLookPeriod || !looked_at_.compare_exchange_strong(last, now)) return nullptr;
  mapping_->forget_the_dead();
  return take_free();
}

std::shared_ptr<std::byte[]> BlockPool::take_free() {
  for (std::size_t block = 0; block < owned_.size(); ++block) {
    if (owned_[block].exchange(true, std::memory_order_acquire)) continue;
    if (!mapping_->is_lent(block)) {
      return {mapping_->block(block), [pool = shared_from_this(), block](std::byte*) {
                pool->owned_[block].store(false, std::memory_order_release);
              }};
    }
    owned_[block].store(false, std::memory_order_release);
  }
  return nullptr;
}

void BlockPool::give_memory_back() {
  std::array<std::shared_ptr<std::byte[]>, SharedMapping::kBlocks> blocks;
  for (auto& block : blocks) {
    block = take_free();
    if (!block) return;
    ::madvise(block.get(), SharedMapping::kBlockBytes, MADV_REMOVE);
  }
}

BorrowedBlocks::BorrowedBlocks(Descriptor file, std::unique_ptr<SharedMapping> mapping,
                               std::uint32_t borrower)
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      borrower_(borrower),
      process_(::getpid()) {}

BorrowedBlocks::~BorrowedBlocks() {
  if (::getpid() == process_) mapping_->leave(borrower_);
}

std::shared_ptr<BorrowedBlocks> BorrowedBlocks::open(pid_t process, int descriptor,
                                                     std::uint64_t token) {
  if (!is_known_by_number()) return nullptr;
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!is_memory_file(file, SharedMapping::kBytes)) return nullptr;
  auto mapping = SharedMapping::map(file.get(), false);
  if (!mapping || mapping->token() != token) return nullptr;
  const auto borrower = mapping->enroll(::getpid());
  if (!borrower) return nullptr;
  return std::shared_ptr<BorrowedBlocks>(
      new BorrowedBlocks(std::move(file), std::move(mapping), *borrower));
}

Result<Payload> BorrowedBlocks::take(SharedMapping::Place place, std::size_t size) {
  if (place.block >= SharedMapping::kBlocks || place.offset > SharedMapping::kBlockBytes ||
      size > SharedMapping::kBlockBytes - place.offset) {
    return Error{ErrorCode::kBadInput, "a payload outside of the shared memory"};
  }
  const std::byte* begin = mapping_->block(place.block) + place.offset;
  std::shared_ptr<const void> owner(begin, [self = shared_from_this(), place](const void*) {
    // In a child that has inherited the payload the loan is not its own.
    if (::getpid() == self->process_) self->mapping_->give_back(place.block, self->borrower_);
  });
  return Payload(std::move(owner), {begin, size});
}

}  // namespace phx::tcp
