#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace phx {

class Writer;

/// Arrays, strings and their kin; also those that only refer to somebody else's bytes.
template <class T>
concept Sequence = std::is_array_v<T> || requires(const T& t) {
  t.data();
};

// What the members of a struct are is found out by initialising them: `T{a, b, c}` goes into what
// is inside of its members, too, as long as these are structs and arrays themselves.
namespace plain {

/// Initialises anything that has no members to be initialised one by one.
struct Anything {
  template <class T>
  requires(!std::is_aggregate_v<T>) operator T() const;  // NOLINT(google-explicit-constructor)
};

/// Initialises only what refers to the memory of this process: pointers, and views of arrays.
struct Reference {
  template <class T>
  operator T*() const;  // NOLINT(google-explicit-constructor)
  template <class T>
  requires(Sequence<T> && !std::is_aggregate_v<T>) operator T()
      const;  // NOLINT(google-explicit-constructor)
};

template <class T, std::size_t... kBefore>
consteval bool is_reference_after(std::index_sequence<kBefore...> /*members*/) {
  return requires {
    T{(static_cast<void>(kBefore), Anything{})..., Reference{}};
  };
}

template <class T, std::size_t... kMembers>
consteval bool is_reference_among(std::index_sequence<kMembers...> /*members*/) {
  return (is_reference_after<T>(std::make_index_sequence<kMembers>{}) || ...);
}

/// So many members are looked at; arrays count as so many members.
inline constexpr std::size_t kMembersMax = 48;

/// T is a struct with a pointer in it, or with a view. What has constructors is not looked into.
template <class T>
consteval bool has_reference() {
  if constexpr (std::is_aggregate_v<T> && std::is_class_v<T>) {
    return is_reference_among<T>(std::make_index_sequence<kMembersMax>{});
  } else {
    return false;
  }
}

/// Takes the members that a `state(auto& io)` names.
struct AnyIo {
  template <class... Ts>
  void operator()(const Ts&... members) const;
};

}  // namespace plain

/// Says how it travels, as in `void state(auto& io) { io(a, b, c); }`: by a member; or, where that
/// cannot be, by a function `void state(auto& io, T& value)` beside T.
template <class T, class Io = plain::AnyIo>
concept Stateful = requires(T& value, Io& io) {
  value.state(io);
}
|| requires(T& value, Io& io) {
  state(io, value);
};

/// The same, also if it has one state() for writing and another one for reading.
template <class T>
concept HasState = Stateful<T> || Stateful<T, Writer>;

namespace plain {

template <class T>
inline constexpr bool kIsOptionalState = false;
template <class T>
inline constexpr bool kIsOptionalState<std::optional<T>> = HasState<T>;

/// Of a container itself, and not of what is derived from one and may have further members.
template <class T>
inline constexpr bool kIsOfTemplate = false;
template <template <class...> class Container, class... Arguments>
inline constexpr bool kIsOfTemplate<Container<Arguments...>> = true;

}  // namespace plain

/// A value whose bytes are the value: numbers, enumerators, and structs of such. All processors of
/// a job must agree on byte order and layout. Pointers mean nothing elsewhere, so structs with
/// pointers are none; nor is what cannot be made before it is read, as a struct with a reference,
/// nor what says itself how it travels. (A struct without a state() is its bytes, also if a member
/// of it has one.)
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && requires {
  T{};
} && !std::is_pointer_v<T> && !Sequence<T> && !plain::has_reference<T>() && !HasState<T> &&
    !plain::kIsOptionalState<T>;

/// A container of values that travel one by one: deque, list, set, unordered_map and their kin.
template <class T>
concept Collection = plain::kIsOfTemplate<T> && requires(T& values, typename T::value_type value) {
  values.clear();
  values.size();
  values.insert(values.end(), std::move(value));
};

}  // namespace phx
