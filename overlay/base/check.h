#pragma once

namespace phx {

/// Reports a broken invariant of our own code on stderr and aborts. Never called for bytes that
/// came from elsewhere.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace phx

/// Aborts if `condition` is false, in every build type.
#define PHX_CHECK(condition) \
  (static_cast<bool>(condition) ? void() : ::phx::check_failed(#condition, __FILE__, __LINE__))
