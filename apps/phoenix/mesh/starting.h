#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "apps/phoenix/mesh/launch.h"
#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

namespace phx::app {

/// A daemon that is being started, by its own program or a remote shell, and has not yet said that
/// it is a member. What it says against that is kept in memory: a full disk cannot swallow it.
class Starting {
 public:
  /// Runs `command` with `input` as its standard input. Of other descriptors it gets `kept` alone,
  /// unless that is -1: it lives longer than whoever called the tool may want to wait.
  [[nodiscard]] static Result<Starting> start(Place place, const std::vector<std::string>& command,
                                              const std::string& input, int kept);
  Starting(Starting&&) noexcept = default;
  Starting& operator=(Starting&&) noexcept = default;
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;
  ~Starting() = default;

  /// Where, for a person: "the daemon on lab3".
  [[nodiscard]] std::string name() const;
  /// Readable when hear() has something to do.
  [[nodiscard]] int descriptor() const { return ready_.get(); }

  /// Reads what there is. True: it is a member, and the process that started it has ended, as it
  /// has after an error, which says how and why.
  [[nodiscard]] Result<bool> hear(Launched& launched);
  /// It is not wanted any more.
  void ask_to_end() const;
  enum class Last { kEnded, kMember, kNeither };
  /// Until it has ended, or is a member, or until `deadline`.
  [[nodiscard]] Last await_end(std::chrono::steady_clock::time_point deadline, Launched& launched);

 private:
  /// In what it has said, which is used up.
  [[nodiscard]] bool has_announced(Launched& launched);
  Starting(Place place, pid_t process, tcp::Descriptor ready, tcp::Descriptor complaints)
      : place_(std::move(place)),
        process_(process),
        ready_(std::move(ready)),
        complaints_(std::move(complaints)) {}
  [[nodiscard]] std::string last_complaint() const;

  Place place_;
  pid_t process_;          ///< Its parent, if it goes into the background; or the remote shell.
  tcp::Descriptor ready_;  ///< Here it writes "ID ENDPOINT".
  tcp::Descriptor complaints_;  ///< A file in memory: its standard error until then.
  std::string said_;            ///< Of the line so far.
  std::string other_;           ///< The last line that was something else.
};

}  // namespace phx::app
