#include "tests/support/allocations.h"

#include <cstdlib>
#include <new>

#if defined(__has_feature)
#define PHX_TEST_HAS_FEATURE(name) __has_feature(name)
#else
#define PHX_TEST_HAS_FEATURE(name) 0
#endif

namespace {

thread_local std::uint64_t count = 0;

}  // namespace

#if !defined(__SANITIZE_THREAD__) && !PHX_TEST_HAS_FEATURE(thread_sanitizer)

namespace {

constexpr bool kCounts = true;

void* counted_or_null(std::size_t size) {
  ++count;
  return std::malloc(size == 0 ? 1 : size);
}

void* counted(std::size_t size) {
  void* memory = counted_or_null(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
// All forms: a sanitizer has its own, and frees nothing that another one allocated.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

#else

namespace {

constexpr bool kCounts = false;

}  // namespace

#endif

namespace phx::support {

std::uint64_t allocations() {
  return count;
}
bool counts_allocations() {
  return kCounts;
}

}  // namespace phx::support
