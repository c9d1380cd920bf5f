#pragma once

#include <type_traits>

namespace phx {

namespace plain {

template <class C, class R, class... A>
std::type_identity<C> class_of(R (C::*)(A...));
template <class C, class R, class... A>
std::type_identity<C> class_of(R (C::*)(A...) const);

/// A base class that knows its heir names that one's members, too.
template <class Base, class T>
inline constexpr bool kKnowsHeir = false;
template <template <class...> class Base, class... Arguments, class T>
inline constexpr bool kKnowsHeir<Base<Arguments...>, T> = (std::is_same_v<Arguments, T> || ...);

/// What `Base` names of T is not all, as far as its size tells.
template <class Base, class T>
inline constexpr bool kIsMore =
    sizeof(Base) < sizeof(T) &&
    !kKnowsHeir<Base, T> && std::is_polymorphic_v<Base> == std::is_polymorphic_v<T>;

template <class Base, class T>
consteval void refuse_more() {
  static_assert(!kIsMore<Base, T>,
                "this type has members that the state() of its base class does not name: give it "
                "one of its own, `void state(auto& io) { Base::state(io); io(a, b); }`");
}

/// Refuses a type whose state() is that of a base class which cannot name all its members.
template <class T, class Io>
consteval void require_whole_state() {
  if constexpr (requires { class_of(&T::template state<Io>); }) {
    refuse_more<typename decltype(class_of(&T::template state<Io>))::type, T>();
  } else if constexpr (requires { class_of(&T::state); }) {
    refuse_more<typename decltype(class_of(&T::state))::type, T>();
  }
}

}  // namespace plain

}  // namespace phx
