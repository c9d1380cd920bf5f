#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/tcp/descriptor.h"

namespace phx::app {

/// What comes through a descriptor, cut into lines. A line longer than 1 MiB is cut in two.
class Lines {
 public:
  Lines() = default;
  explicit Lines(tcp::Descriptor source) : source_(std::move(source)) {}
  /// Negative: the source has ended.
  [[nodiscard]] int descriptor() const { return source_.get(); }
  /// Reads once, 16 KiB at most, and calls `f` with each line that is there now. At the end of the
  /// source also with what has no end.
  void take(const std::function<void(const std::string&)>& f);

 private:
  tcp::Descriptor source_;
  std::string begun_;
};

/// Standard output and standard error of this process: what their readers do not take yet stays
/// here, so that nothing waits for them. Both are numbered as descriptors are.
class Shown {
 public:
  /// Writes what there is room for.
  void add(int stream, std::string_view text);
  void write();
  /// 64 KiB wait: whatever comes from elsewhere should wait there.
  [[nodiscard]] bool is_full(int stream) const;
  [[nodiscard]] bool is_empty() const { return waiting_[0].empty() && waiting_[1].empty(); }
  /// What to wait for with poll() before the next write(): room, if something waits.
  [[nodiscard]] pollfd room(int stream) const;
  /// Whoever read one of them is gone, as `| head` goes.
  [[nodiscard]] bool is_unread() const { return is_unread_; }
  /// Why some of the output is lost, though somebody reads; empty: nothing is.
  [[nodiscard]] const std::string& loss() const { return loss_; }

 private:
  void write(int stream);

  std::array<std::string, 2> waiting_;
  bool is_unread_ = false;
  std::string loss_;
};

}  // namespace phx::app
