#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "overlay/base/payload.h"
#include "runtime/api/plain.h"
#include "runtime/api/whole_state.h"

namespace phx {

/// Writes values one behind the other: `out(step, width, cells)`. Takes Plain values, strings,
/// arrays, pairs, tuples, optionals, what one goes through and inserts into (deque, list, set, map,
/// unordered_map, ...), and every type with a member `void state(auto& io) { io(a, b, c); }`, which
/// serves for reading as well, or with a function `void state(auto& io, T& value)` beside it.
class Writer {
 public:
  template <class... Ts>
  void operator()(const Ts&... values) {
    (put(values), ...);
  }
  [[nodiscard]] Bytes take() { return std::exchange(bytes_, {}); }

 private:
  void raw(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  template <class T>
  void put(const T& value) {
    if constexpr (Plain<T>) {
      raw(&value, sizeof(value));
    } else if constexpr (requires(T & own) { own.state(*this); }) {
      plain::require_whole_state<T, Writer>();
      const_cast<T&>(value).state(*this);  // state() only reads what a Writer is given
    } else if constexpr (Stateful<T, Writer>) {
      T own = value;  // a function beside the type may build it anew
      state(*this, own);
    } else if constexpr (Collection<T>) {
      put(static_cast<std::size_t>(value.size()));
      for (const auto& element : value) put(element);
    } else {
      static_assert(Stateful<T, Writer>,
                    "this type cannot travel between processes: give it a member "
                    "`void state(auto& io) { io(a, b, c); }` that names what belongs to it, and in "
                    "place of a pointer what that points to (of a type that is not yours: a "
                    "function `void state(auto& io, T& value)` in its namespace)");
    }
  }
  template <class T, std::size_t N>
  void put(const std::array<T, N>& values) {
    for (const T& value : values) put(value);
  }
  void put(const std::string& text) {
    put(text.size());
    raw(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    if constexpr (Plain<T> && !std::is_same_v<T, bool>) {
      raw(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) put(value);
    }
  }
  template <class A, class B>
  void put(const std::pair<A, B>& value) {
    put(value.first);
    put(value.second);
  }
  template <class... Ts>
  void put(const std::tuple<Ts...>& values) {
    std::apply([this](const Ts&... each) { (put(each), ...); }, values);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }

  Bytes bytes_;
};

}  // namespace phx
