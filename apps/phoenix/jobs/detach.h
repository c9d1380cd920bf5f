#pragma once

#include <functional>
#include <string>

namespace phx::app {

/// Gives the terminal back: what was asked for has begun. `text` goes to stdout there, `advice` to
/// stderr. What this process writes from then on goes to the file `log`, which is open.
using GiveBack = std::function<void(const std::string& text, const std::string& advice, int log)>;

/// Runs `work` in a process of its own, in a session without a terminal, and waits until it gives
/// the terminal back: then 0. If it ends before: its exit code. Signals until then are passed on.
/// Returns in both processes; in the new one what `work` has returned. REQUIRES an Interrupts to be
/// there, and no other thread.
[[nodiscard]] int detach(const std::function<int(const GiveBack&)>& work);

}  // namespace phx::app
