#include "runtime/tcp/shared_pools.h"

#include <algorithm>

namespace phx::tcp {

const std::shared_ptr<BlockPool>& SharedPools::own() {
  if (!own_ && !is_refused_) own_ = BlockPool::create();
  is_refused_ = own_ == nullptr;
  return own_;
}

std::shared_ptr<BorrowedBlocks> SharedPools::borrow(pid_t process, int descriptor,
                                                    std::uint64_t token) {
  std::erase_if(borrowed_, [](const auto& pool) { return pool.expired(); });
  for (const auto& known : borrowed_) {
    auto pool = known.lock();
    if (pool && pool->mapping().token() == token) return pool;
  }
  if (borrowed_.size() >= kBorrowedMost) return nullptr;
  auto pool = BorrowedBlocks::open(process, descriptor, token);
  if (pool) borrowed_.push_back(pool);
  return pool;
}

bool SharedPools::has_borrowed() const {
  return std::ranges::any_of(borrowed_, [](const auto& pool) { return !pool.expired(); });
}

std::optional<SharedPools::Found> SharedPools::find(const Payload& payload) {
  if (own_) {
    if (const auto place = own_->mapping().find(payload)) {
      return Found{&own_->mapping(), own_->descriptor(), *place};
    }
  }
  for (const auto& known : borrowed_) {
    const auto pool = known.lock();
    if (!pool) continue;
    if (const auto place = pool->mapping().find(payload)) {
      return Found{&pool->mapping(), pool->descriptor(), *place};
    }
  }
  return std::nullopt;
}

}  // namespace phx::tcp
