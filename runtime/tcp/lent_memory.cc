#include "runtime/tcp/lent_memory.h"

#include <system_error>
#include <utility>

#include "runtime/tcp/loans.h"

namespace phx::tcp {

std::shared_ptr<std::byte[]> LentMemory::room_for(std::size_t bytes) {
  const bool fits = bytes >= Loans::kLongBytes && bytes <= SharedMapping::kBlockBytes;
  if (!is_in_use_ || !fits || !pools_.made()) return nullptr;
  on_use();
  return pools_.made()->take();
}

void LentMemory::on_use() {
  is_in_use_ = was_used_ = true;
  if (!std::exchange(is_tidying_, true)) tidy_later();
}

void LentMemory::tidy_later() {
  timer_.expires_after(kTidyPeriod);
  timer_.async_wait([this](const std::error_code& error) {
    if (error) return;
    forget_the_dead_();
    is_tidying_ = std::exchange(was_used_, false);
    if (pools_.made()) pools_.made()->mapping().forget_the_dead();
    if (!is_tidying_ && pools_.made()) pools_.made()->give_memory_back();
    is_tidying_ = is_tidying_ || pools_.has_borrowed();
    if (is_tidying_) tidy_later();
  });
}

}  // namespace phx::tcp
