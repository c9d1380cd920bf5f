#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "overlay/base/time.h"
#include "runtime/tcp/shared_pools.h"

namespace phx::tcp {

/// The pools of a daemon: puts there what will most likely be lent, and gives back what is needed
/// no more. Not thread-safe: as the loop.
class LentMemory {
 public:
  /// How often it is looked what is needed no more, while there is something.
  static constexpr Duration kTidyPeriod = 10s;

  /// `forget_the_dead`: calls that of every Connection.
  LentMemory(asio::io_context& io, std::function<void()> forget_the_dead)
      : timer_(io), forget_the_dead_(std::move(forget_the_dead)) {}

  [[nodiscard]] SharedPools& pools() { return pools_; }
  /// For a payload that is about to be read; null: it had better go to the heap.
  [[nodiscard]] std::shared_ptr<std::byte[]> room_for(std::size_t bytes);
  /// A long payload goes where it may be lent, so the next one will.
  void on_use();

 private:
  void tidy_later();

  SharedPools pools_;
  asio::steady_timer timer_;
  std::function<void()> forget_the_dead_;
  bool is_in_use_ = false;  ///< Since the first use.
  bool was_used_ = false;   ///< In this period.
  bool is_tidying_ = false;
};

}  // namespace phx::tcp
