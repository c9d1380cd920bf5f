#pragma once

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/api/failure.h"
#include "runtime/api/whole_state.h"
#include "runtime/api/writer.h"

namespace phx {

/// Reads what a Writer wrote, in the same order. Throws Failure (kBadInput) if the bytes do not
/// suffice. The bytes must outlive it.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class... Ts>
  void operator()(Ts&... values) {
    (get(values), ...);
  }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  /// What is read of a Collection, one after the other: of a map with a key that can be written to.
  template <class T>
  struct Entry {
    using Type = typename T::value_type;
  };
  template <class T>
  requires requires { typename T::mapped_type; }
  struct Entry<T> {
    using Type = std::pair<typename T::key_type, typename T::mapped_type>;
  };
  template <class T>
  using EntryOf = typename Entry<T>::Type;

  static Failure too_short() {
    return {ErrorCode::kBadInput, "the bytes end before the value does"};
  }
  void raw(void* to, std::size_t size) {
    if (size > rest_.size()) throw too_short();
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  /// A count of elements that are at least so many bytes each: a wrong one allocates nothing.
  std::size_t count(std::size_t bytes_each) {
    std::size_t count = 0;
    get(count);
    if (count > rest_.size() / bytes_each) throw too_short();
    return count;
  }
  template <class T>
  void get(T& value) {
    if constexpr (Plain<T>) {
      raw(&value, sizeof(value));
    } else if constexpr (requires { value.state(*this); }) {
      plain::require_whole_state<T, Reader>();
      value.state(*this);
    } else if constexpr (Stateful<T, Reader>) {
      state(*this, value);
    } else if constexpr (Collection<T>) {
      value.clear();
      for (std::size_t left = count(1); left > 0; --left) {
        EntryOf<T> entry{};
        get(entry);
        value.insert(value.end(), std::move(entry));
      }
    } else {
      static_assert(Stateful<T, Reader>,
                    "this type cannot be read from a message: instead of a view (std::span) take "
                    "what owns its memory (std::vector); to another one give a member `void "
                    "state(auto& io) { io(a, b, c); }`, not const, that names what belongs to it");
    }
  }
  template <class T, std::size_t N>
  void get(std::array<T, N>& values) {
    for (T& value : values) get(value);
  }
  void get(std::string& text) {
    text.resize(count(1));
    raw(text.data(), text.size());
  }
  template <class T>
  void get(std::vector<T>& values) {
    if constexpr (Plain<T> && !std::is_same_v<T, bool>) {
      values.resize(count(sizeof(T)));
      raw(values.data(), values.size() * sizeof(T));
    } else {
      values.clear();
      for (std::size_t left = count(1); left > 0; --left) {
        T value{};
        get(value);
        values.push_back(std::move(value));
      }
    }
  }
  template <class K, class V>
  void get(std::map<K, V>& values) {
    values.clear();
    for (std::size_t left = count(1); left > 0; --left) {
      K key{};
      get(key);
      get(values[key]);
    }
  }
  template <class A, class B>
  void get(std::pair<A, B>& value) {
    get(value.first);
    get(value.second);
  }
  template <class... Ts>
  void get(std::tuple<Ts...>& values) {
    std::apply([this](Ts&... each) { (get(each), ...); }, values);
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool is_there = false;
    get(is_there);
    value.reset();
    if (is_there) get(value.emplace());
  }

  std::span<const std::byte> rest_;
};

}  // namespace phx
