#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/result.h"

namespace phx {

/// What calls of the library throw. what() is one sentence for a person; the rest is for programs:
/// kTimeout (a wait took too long), kAborted (the job is over), kUnavailable (the daemon is gone or
/// there is none), kBadInput (wrong use: a vnode not held, a type that does not fit the bytes),
/// kDenied (vnodes asked for by assume() are held by others), kLimit (too much of something).
class Failure : public std::runtime_error {
 public:
  Failure(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  explicit Failure(const Error& error) : Failure(error.code, error.what) {}

  [[nodiscard]] ErrorCode code() const { return code_; }
  /// The processor on which it happened; nobody before the session is attached.
  [[nodiscard]] ProcessorId processor() const { return processor_; }
  /// The vnode that the call was made for, if it was made for one.
  [[nodiscard]] std::optional<std::uint64_t> vnode() const {
    return vnodes_.empty() ? std::nullopt : std::optional(vnodes_.front());
  }
  /// All that it is about: of a refused assume() those that were refused.
  [[nodiscard]] const std::vector<std::uint64_t>& vnodes() const { return vnodes_; }
  /// The call, as in "recv"; empty if it was none in particular.
  [[nodiscard]] const std::string& operation() const { return operation_; }

  /// The same failure with the circumstances of the call.
  [[nodiscard]] Failure in(std::string operation, std::optional<std::uint64_t> vnode,
                           ProcessorId processor) const {
    Failure failure = *this;
    failure.operation_ = std::move(operation);
    if (vnode) failure.vnodes_ = {*vnode};
    failure.processor_ = processor;
    return failure;
  }
  /// The same failure about these vnodes.
  [[nodiscard]] Failure about(std::vector<std::uint64_t> vnodes) const {
    Failure failure = *this;
    failure.vnodes_ = std::move(vnodes);
    return failure;
  }

 private:
  ErrorCode code_;
  ProcessorId processor_;
  std::vector<std::uint64_t> vnodes_;
  std::string operation_;
};

/// The value of `result`, or its error as a Failure.
template <class T>
[[nodiscard]] T value_or_throw(Result<T> result) {
  if (!result.ok()) throw Failure(result.error());
  return std::move(result).value();
}

}  // namespace phx
