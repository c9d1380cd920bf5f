#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "apps/bench/workloads.h"

namespace {

std::atomic<std::uint64_t> count{0};

}  // namespace

// The thread sanitizer has operators of its own, which are not replaced: nothing is counted there.
#if defined(__has_feature)
#define PHX_BENCH_HAS_FEATURE(name) __has_feature(name)
#else
#define PHX_BENCH_HAS_FEATURE(name) 0
#endif
#if !defined(__SANITIZE_THREAD__) && !PHX_BENCH_HAS_FEATURE(thread_sanitizer)

namespace {

void* allocate(std::size_t size) {
  count.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Of the whole program, with a daemon that is inside it.
void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

#endif

namespace bench {

std::uint64_t allocations() {
  return count.load(std::memory_order_relaxed);
}

}  // namespace bench
