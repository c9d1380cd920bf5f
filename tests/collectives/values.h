#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"

/// Short ways to write the values that the tests of the collectives are about.
namespace phx::collectives {

/// {first, ..., last}.
VnodeSet vnodes(std::uint64_t first, std::uint64_t last);
ProcessorSet processors(std::uint32_t first, std::uint32_t last);

/// A contribution to reduction `number` towards v0: the sum of 64-bit integers.
ReductionToken sum_token(const VnodeSet& covered, std::int64_t value, std::uint64_t number = 0);

template <class T>
Payload array_of(const std::vector<T>& elements) {
  Bytes bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return Payload(std::move(bytes));
}

/// REQUIRES a whole number of elements.
template <class T>
std::vector<T> elements_of(const Payload& payload) {
  std::vector<T> elements(payload.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), payload.bytes().data(), payload.size());
  return elements;
}

}  // namespace phx::collectives
