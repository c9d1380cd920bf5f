#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <variant>

#include "overlay/base/payload.h"
#include "runtime/wire/codec.h"
#include "tests/support/random_messages.h"

namespace phx::wire {

/// The five families seen alike: how one decodes, and how many kinds it has.
template <class Top>
struct FamilyOf;

template <>
struct FamilyOf<runtime::Frame> {
  using Top = runtime::Frame;
  static constexpr Family kFamily = Family::kFrame;
  static constexpr std::size_t kKinds = std::variant_size_v<runtime::Envelope::Variant> + 1;
  static auto decode(Decoder& decoder, Decoder::Header header, Payload payload) {
    return decoder.frame(header, std::move(payload));
  }
  static auto make(support::RandomMessages& random, std::size_t kind) { return random.frame(kind); }
};
template <>
struct FamilyOf<runtime::ToDaemon> {
  using Top = runtime::ToDaemon;
  static constexpr Family kFamily = Family::kToDaemon;
  static constexpr std::size_t kKinds = std::variant_size_v<runtime::ToDaemon::Variant>;
  static auto decode(Decoder& decoder, Decoder::Header header, Payload payload) {
    return decoder.to_daemon(header, std::move(payload));
  }
  static auto make(support::RandomMessages& random, std::size_t kind) {
    return random.to_daemon(kind);
  }
};
template <>
struct FamilyOf<runtime::ToApplication> {
  using Top = runtime::ToApplication;
  static constexpr Family kFamily = Family::kToApplication;
  static constexpr std::size_t kKinds = std::variant_size_v<runtime::ToApplication::Variant>;
  static auto decode(Decoder& decoder, Decoder::Header header, Payload payload) {
    return decoder.to_application(header, std::move(payload));
  }
  static auto make(support::RandomMessages& random, std::size_t kind) {
    return random.to_application(kind);
  }
};
template <>
struct FamilyOf<runtime::ClientRequest> {
  using Top = runtime::ClientRequest;
  static constexpr Family kFamily = Family::kClientRequest;
  static constexpr std::size_t kKinds = std::variant_size_v<runtime::ClientRequest::Variant>;
  static auto decode(Decoder& decoder, Decoder::Header header, Payload payload) {
    return decoder.client_request(header, std::move(payload));
  }
  static auto make(support::RandomMessages& random, std::size_t kind) {
    return random.client_request(kind);
  }
};
template <>
struct FamilyOf<runtime::ClientReply> {
  using Top = runtime::ClientReply;
  static constexpr Family kFamily = Family::kClientReply;
  static constexpr std::size_t kKinds = std::variant_size_v<runtime::ClientReply::Variant>;
  static auto decode(Decoder& decoder, Decoder::Header header, Payload payload) {
    return decoder.client_reply(header, std::move(payload));
  }
  static auto make(support::RandomMessages& random, std::size_t kind) {
    return random.client_reply(kind);
  }
};

/// Calls `check` with a FamilyOf of each.
template <class Check>
void for_all_families(Check check) {
  check(FamilyOf<runtime::Frame>{});
  check(FamilyOf<runtime::ToDaemon>{});
  check(FamilyOf<runtime::ToApplication>{});
  check(FamilyOf<runtime::ClientRequest>{});
  check(FamilyOf<runtime::ClientReply>{});
}

/// Everything that would be written, in one piece.
inline Bytes flatten(const Encoded& encoded) {
  Bytes bytes = encoded.head;
  for (const Payload& part : encoded.tail) {
    bytes.insert(bytes.end(), part.bytes().begin(), part.bytes().end());
  }
  return bytes;
}
inline Decoder::Header header_of(const Encoded& encoded) {
  return Decoder::Header(encoded.head).subspan(kPrefixBytes);
}
inline Payload payload_of(const Encoded& encoded) {
  const Bytes all = flatten(encoded);
  return Payload::copy_of(std::span(all).subspan(encoded.head.size()));
}

}  // namespace phx::wire
