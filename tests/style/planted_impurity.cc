// Breaks the rules about symbols, on purpose: it reads the clock, and offers what nobody uses.
#include <chrono>

namespace phx::planted {

long used_by_nobody() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace phx::planted
