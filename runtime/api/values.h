#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "overlay/base/payload.h"
#include "runtime/api/failure.h"
#include "runtime/api/fresh_payload.h"
#include "runtime/api/reader.h"
#include "runtime/api/writer.h"

namespace phx {

/// Something whose elements stand side by side in memory and are Plain: vectors, arrays, spans,
/// strings.
template <class T>
concept PlainArray = requires(const T& values) {
  {std::span(values)};
}
&&Plain<std::remove_cvref_t<decltype(*std::span(std::declval<const T&>()).data())>> && !HasState<T>;

/// The characters of a text, of which an array of char need not have a zero.
template <std::size_t kSize>
[[nodiscard]] std::string_view text_of(const char (&text)[kSize]) {
  return {text, ::strnlen(text, kSize)};
}
[[nodiscard]] inline std::string_view text_of(std::string_view text) {
  return text;
}

/// The bytes of a value as a message: of a Plain value or of the elements of a PlainArray just
/// these bytes (copied); an array of char is a text up to its first zero; a Payload is passed on as
/// it is; anything else goes through a Writer.
template <class T>
[[nodiscard]] Payload encode(const T& value) {
  if constexpr (std::is_same_v<T, Payload>) {
    return value;
  } else if constexpr (Plain<T>) {
    return copied(std::as_bytes(std::span<const T, 1>(&value, 1)));
  } else if constexpr (std::is_convertible_v<const T&, std::string_view> && !HasState<T>) {
    return copied(std::as_bytes(std::span(text_of(value))));
  } else if constexpr (PlainArray<T>) {
    return copied(std::as_bytes(std::span(value)));
  } else {
    Writer out;
    out(value);
    return Payload(out.take());
  }
}

/// Bytes given away without a copy.
[[nodiscard]] inline Payload encode(Bytes&& bytes) {
  return Payload(std::move(bytes));
}

template <class T>
inline constexpr bool kIsPlainVector = false;
template <class E, class A>
inline constexpr bool kIsPlainVector<std::vector<E, A>> = Plain<E> && !std::is_same_v<E, bool>;

/// The value that encode() made these bytes of. Throws Failure (kBadInput) if they cannot be of a
/// T.
template <class T>
[[nodiscard]] T decode(const Payload& payload) {
  const auto bytes = payload.bytes();
  const auto misfit = [&](std::size_t element) {
    return Failure(ErrorCode::kBadInput, "a message of " + std::to_string(bytes.size()) +
                                             " bytes is not what was asked for: values of " +
                                             std::to_string(element) + " bytes");
  };
  if constexpr (std::is_same_v<T, Payload>) {
    return payload;
  } else if constexpr (Plain<T>) {
    if (bytes.size() != sizeof(T)) throw misfit(sizeof(T));
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return std::string(payload.text());
  } else if constexpr (kIsPlainVector<T>) {
    using Element = typename T::value_type;
    if (bytes.size() % sizeof(Element) != 0) throw misfit(sizeof(Element));
    const std::size_t count = bytes.size() / sizeof(Element);
    const auto* const first = reinterpret_cast<const Element*>(bytes.data());
    // To set long values to something first, only to overwrite it, would cost as much once more.
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(first) % alignof(Element) == 0;
    if constexpr (std::is_copy_constructible_v<Element>) {
      if (is_aligned) return T(first, first + count);
    }
    T values(count);
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  } else {
    T value{};
    Reader in(bytes);
    in(value);
    if (in.left() != 0) throw misfit(bytes.size() - in.left());
    return value;
  }
}

}  // namespace phx
