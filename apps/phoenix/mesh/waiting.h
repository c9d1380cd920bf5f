#pragma once

#include <string>

#include "overlay/base/time.h"

namespace phx::app {

/// Says on stderr what the tool waits for: after 2 s, and then every 10 s, so that nobody has to
/// guess at a silent terminal. Begins to wait where it is made.
class Waiting {
 public:
  /// What comes of it after `limit`, in the words of a person; kForever: it waits on.
  explicit Waiting(Duration limit, std::string then = "gives up");

  /// To be called now and then. `what`: who is to do what, and where: "p3 at 10.0.0.3:4711 to
  /// answer".
  void look(const std::string& what);
  /// The same, by the caller's own account of how long it has waited.
  void look(const std::string& what, Duration waited);

  /// How long it waits before it says so.
  static constexpr Duration kQuiet = 2s;

 private:
  Duration limit_;
  std::string then_;
  Instant begun_;
  Duration next_ = kQuiet;  ///< When it says so again.
};

}  // namespace phx::app
