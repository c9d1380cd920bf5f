#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

namespace phx::app {

/// This program, started once more with other arguments; what it writes comes back line by line.
class Child {
 public:
  /// Stdout and stderr come together.
  [[nodiscard]] static Result<Child> start(const std::vector<std::string>& arguments);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Ends the process if it still runs.
  ~Child();

  /// Readable when there is something to take.
  [[nodiscard]] int descriptor() const { return output_.get(); }
  /// Hands over the lines that are there. False: the process has ended, exit_code() is known.
  [[nodiscard]] bool take(const std::function<void(const std::string&)>& on_line);
  /// As a shell gives it; -1 while it runs.
  [[nodiscard]] int exit_code() const { return exit_code_; }
  [[nodiscard]] const std::string& last_line() const { return last_line_; }

 private:
  Child(pid_t process, tcp::Descriptor output) : process_(process), output_(std::move(output)) {}

  pid_t process_;
  tcp::Descriptor output_;
  std::string begun_;  ///< A line without its end.
  std::string last_line_;
  int exit_code_ = -1;
};

}  // namespace phx::app
