#pragma once

namespace phx::app {

/// What whoever starts this process may have left: ignored signals, closed standard streams.
/// Before anything else.
void mend_what_is_inherited();

/// Of main(): the code, unless something that was printed is lost, which is told.
[[nodiscard]] int end_output(int code);

}  // namespace phx::app
