#pragma once

#include <string>
#include <utility>
#include <variant>

#include "overlay/base/check.h"

namespace phx {

/// Why something could not be done. `kLimit`: a stated limit was reached.
enum class ErrorCode {
  kBadInput,
  kBadVersion,
  kDenied,
  kLimit,
  kNotFound,
  kBusy,
  kUnavailable,
  kTimeout,
  kAborted,
};

/// A failure as a value. `what` is one sentence for a person: what, where, what to do next.
struct Error {
  ErrorCode code = ErrorCode::kBadInput;
  std::string what;
  friend bool operator==(const Error&, const Error&) = default;
};

/// A value or the reason why there is none. Ignoring one is a compile error in the dev preset.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: wanted
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: wanted

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  /// REQUIRES ok().
  [[nodiscard]] T& value() & {
    PHX_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    PHX_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    PHX_CHECK(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  /// REQUIRES !ok().
  [[nodiscard]] const Error& error() const {
    PHX_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// The result of something that yields no value.
using Status = Result<std::monostate>;
inline Status success() {
  return std::monostate{};
}

}  // namespace phx
