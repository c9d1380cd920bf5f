#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

namespace phx::app {

/// This program, started once more with other arguments, or another one; what it writes comes back
/// line by line.
class Child {
 public:
  /// Stdout and stderr come together. `environment`: NAME=VALUE, beside what this process has.
  [[nodiscard]] static Result<Child> start(const std::vector<std::string>& arguments,
                                           const std::vector<std::string>& environment = {});
  /// Another program, by its path.
  [[nodiscard]] static Result<Child> start_program(const std::string& program,
                                                   const std::vector<std::string>& arguments,
                                                   const std::vector<std::string>& environment);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Ends the process if it still runs.
  ~Child() { end(); }
  void end();

  /// Readable when there is something to take.
  [[nodiscard]] int descriptor() const { return output_.get(); }
  /// Hands over the lines that are there. False: the process has ended, exit_code() is known.
  [[nodiscard]] bool take(const std::function<void(const std::string&)>& on_line);
  /// As a shell gives it; -1 while it runs.
  [[nodiscard]] int exit_code() const { return exit_code_; }
  [[nodiscard]] const std::string& last_line() const { return last_line_; }

 private:
  [[nodiscard]] static Result<Child> begin(const std::string& program,
                                           std::vector<std::string> words,
                                           const std::vector<std::string>& environment);
  /// True: it has ended. `options` of waitpid(): 0 waits for that.
  [[nodiscard]] bool reap(int options);
  Child(pid_t process, tcp::Descriptor output) : process_(process), output_(std::move(output)) {}

  pid_t process_;
  tcp::Descriptor output_;
  std::string begun_;  ///< A line without its end.
  std::string last_line_;
  int exit_code_ = -1;
};

}  // namespace phx::app
