#pragma once

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
void OneOf<Alternatives...>::take_if(std::size_t index, void* alternative) {
  if (index != index_of<T>()) return;
  this->template emplace<T>(std::move(*static_cast<T*>(alternative)));
}

template <class... Alternatives>
OneOf<Alternatives...>::OneOf(std::size_t index, void* alternative) {
  (take_if<Alternatives>(index, alternative), ...);
}

}  // namespace phx
