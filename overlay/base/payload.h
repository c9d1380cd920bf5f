#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "overlay/base/check.h"

namespace phx {

/// Mutable bytes while they are being made.
using Bytes = std::vector<std::byte>;

/// An immutable run of bytes that is held once and shared by everyone who still needs it: local
/// applications, several children, a retransmission. Copying it copies a pointer. The memory may
/// be a vector, a mapped file or anything else that an owner keeps alive.
/// Thread rule: immutable, so different copies may be used on different threads.
class Payload {
 public:
  Payload() = default;
  explicit Payload(Bytes bytes) {
    auto held = std::make_shared<const Bytes>(std::move(bytes));
    view_ = *held;
    owner_ = std::move(held);
  }
  /// Shares `view`, which `owner` keeps valid.
  Payload(std::shared_ptr<const void> owner, std::span<const std::byte> view)
      : owner_(std::move(owner)), view_(view) {}
  [[nodiscard]] static Payload copy_of(std::span<const std::byte> bytes) {
    return Payload(Bytes(bytes.begin(), bytes.end()));
  }
  [[nodiscard]] static Payload copy_of(std::string_view text) {
    return copy_of(std::as_bytes(std::span(text)));
  }

  /// Valid as long as any copy of this payload lives.
  [[nodiscard]] std::span<const std::byte> bytes() const { return view_; }
  [[nodiscard]] std::size_t size() const { return view_.size(); }
  [[nodiscard]] bool empty() const { return view_.empty(); }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(view_.data()), view_.size()};
  }
  /// A part of it that shares the same memory. REQUIRES offset + size <= size().
  [[nodiscard]] Payload slice(std::size_t offset, std::size_t size) const {
    PHX_CHECK(offset <= view_.size() && size <= view_.size() - offset);
    return Payload(owner_, view_.subspan(offset, size));
  }
  /// Equal bytes, wherever they lie.
  friend bool operator==(const Payload& a, const Payload& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.view_.data(), b.view_.data(), a.size()) == 0);
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> view_;
};

}  // namespace phx
