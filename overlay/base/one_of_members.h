#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "overlay/base/one_of.h"

// For the source files that compile a OneOf, and for no others.
namespace phx {

template <class... Alternatives>
OneOf<Alternatives...>::OneOf() = default;

template <class... Alternatives>
OneOf<Alternatives...>::OneOf(const OneOf& other) = default;

template <class... Alternatives>
OneOf<Alternatives...>::OneOf(OneOf&& other) noexcept = default;

template <class... Alternatives>
OneOf<Alternatives...>& OneOf<Alternatives...>::operator=(const OneOf& other) = default;

template <class... Alternatives>
OneOf<Alternatives...>& OneOf<Alternatives...>::operator=(OneOf&& other) noexcept = default;

template <class... Alternatives>
OneOf<Alternatives...>::~OneOf() = default;

template <class... Alternatives>
bool OneOf<Alternatives...>::operator==(const OneOf& other) const {
  return static_cast<const Variant&>(*this) == static_cast<const Variant&>(other);
}

template <class... Alternatives>
template <class T>
void OneOf<Alternatives...>::take(OneOf& to, void* alternative) {
  to.template emplace<T>(std::move(*static_cast<T*>(alternative)));
}

template <class... Alternatives>
OneOf<Alternatives...>::OneOf(std::size_t index, void* alternative) {
  constexpr std::array kTakers{&OneOf::take<Alternatives>...};
  kTakers[index](*this, alternative);
}

}  // namespace phx
