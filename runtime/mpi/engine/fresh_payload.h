#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "overlay/base/payload.h"
#include "runtime/mpi/engine/spare_memory.h"

namespace phx::mpi {

/// Lent by the memory of the process.
struct Lent {
  explicit Lent(std::size_t size) : block(SpareMemory::of_process().take(size)) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { SpareMemory::of_process().give(std::move(block)); }
  SpareMemory::Block block;
};

/// A message that is to be written: where it begins, and what holds it. It is not set to anything.
[[nodiscard]] inline std::pair<std::byte*, Payload> fresh_payload(std::size_t size) {
  if (size >= SpareMemory::kLeast) {
    auto lent = std::make_shared<Lent>(size);
    std::byte* const begin = lent->block.bytes.get();
    return {begin, Payload(std::shared_ptr<const void>(std::move(lent), begin), {begin, size})};
  }
  auto memory = std::make_shared_for_overwrite<std::byte[]>(size);
  std::byte* const begin = memory.get();
  return {begin, Payload(std::shared_ptr<const void>(std::move(memory), begin), {begin, size})};
}

}  // namespace phx::mpi
