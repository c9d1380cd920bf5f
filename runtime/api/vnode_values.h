#pragma once

#include <iterator>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/api/message.h"
#include "runtime/api/values.h"

namespace phx {

/// What vnode `v` contributes: `of(v)`, or `of` itself if that is no function of a vnode.
template <class Of>
[[nodiscard]] decltype(auto) value_of(const Of& of, Vnode v) {
  if constexpr (std::is_invocable_v<const Of&, Vnode>) {
    return of(v);
  } else {
    return (of);
  }
}
template <class Of>
using ValueOf = std::remove_cvref_t<decltype(value_of(std::declval<const Of&>(), Vnode{}))>;

/// What each vnode gives, as bytes.
using VnodeValues = std::vector<std::pair<Vnode, Payload>>;
template <class Of>
[[nodiscard]] VnodeValues values_of(const std::vector<Vnode>& vnodes, const Of& of) {
  VnodeValues values;
  for (const Vnode v : vnodes) values.emplace_back(v, encode(value_of(of, v)));
  return values;
}

/// Values of several vnodes, and back.
template <class Values>
using ItemOf = std::remove_cvref_t<decltype(*std::begin(std::declval<Values&>()))>;
template <class Of>
using PairValueOf = std::remove_cvref_t<std::invoke_result_t<const Of&, Vnode, Vnode>>;
template <class Values>
[[nodiscard]] std::vector<Payload> encode_all(const Values& values) {
  std::vector<Payload> payloads;
  for (const auto& value : values) payloads.push_back(encode(value));
  return payloads;
}
/// As decode(); a Failure says what could not be read: "gather: the value of v3".
template <class T>
[[nodiscard]] T decode_of(const char* what, Vnode v, const Payload& payload) {
  try {
    return decode<T>(payload);
  } catch (const Failure& failure) {
    const std::string value = std::string(what) + " v" + std::to_string(v);
    throw Failure(failure.code(), value + ": " + failure.what()).about({v});
  }
}
template <class T>
[[nodiscard]] std::vector<T> decode_all(const char* what, const std::vector<Payload>& payloads) {
  std::vector<T> values;
  for (const Payload& payload : payloads) {
    values.push_back(decode_of<T>(what, values.size(), payload));
  }
  return values;
}
template <class T>
[[nodiscard]] std::map<Vnode, T> decode_by_vnode(const char* what, const VnodeValues& payloads) {
  std::map<Vnode, T> values;
  for (const auto& [v, payload] : payloads) values.emplace(v, decode_of<T>(what, v, payload));
  return values;
}

}  // namespace phx
