#include "runtime/tcp/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "overlay/base/check.h"
#include "overlay/base/payload.h"
#include "runtime/wire/framing.h"

namespace phx::tcp {
namespace {

// The first byte is not ASCII and there are line ends inside, so that no text protocol and no
// transfer that changes line ends is ever taken for us.
constexpr std::array<unsigned char, 8> kMagic{0x89, 'P', 'H', 'X', '\r', '\n', 0x1a, '\n'};

// Offsets of the fields in a hello; integers are little-endian.
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kRoleAt = 10;
constexpr std::size_t kReservedAt = 11;
constexpr std::size_t kMeshAt = 16;
constexpr std::size_t kNonceAt = 32;
constexpr std::size_t kSelfAt = 64;
constexpr std::size_t kExpectedAt = 68;
constexpr std::size_t kIncarnationAt = 72;
constexpr std::size_t kTailAt = 80;  ///< Zero, for later.

void put(HelloBytes& bytes, std::size_t at, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

std::uint64_t get(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  }
  return value;
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

/// HMAC-SHA256.
Proof keyed_hash(const MeshKey& key, std::span<const std::byte> text) {
  Proof result{};
  unsigned int size = 0;
  const unsigned char* const done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), raw(text), text.size(),
           reinterpret_cast<unsigned char*>(result.data()), &size);
  PHX_CHECK(done != nullptr && size == result.size());
  return result;
}

}  // namespace

HelloBytes encode(const Hello& hello) {
  HelloBytes bytes{};
  std::transform(kMagic.begin(), kMagic.end(), bytes.begin(),
                 [](unsigned char c) { return static_cast<std::byte>(c); });
  put(bytes, kVersionAt, 2, hello.version);
  put(bytes, kRoleAt, 1, static_cast<std::uint64_t>(hello.role));
  std::copy(hello.mesh.begin(), hello.mesh.end(), bytes.begin() + kMeshAt);
  std::copy(hello.nonce.begin(), hello.nonce.end(), bytes.begin() + kNonceAt);
  put(bytes, kSelfAt, 4, hello.self.value);
  put(bytes, kExpectedAt, 4, hello.expected.value);
  put(bytes, kIncarnationAt, 8, hello.incarnation);
  return bytes;
}

Result<Hello> decode_hello(std::span<const std::byte> bytes) {
  const Error error{ErrorCode::kBadInput, "these bytes are not a Phoenix hello"};
  if (bytes.size() != kHelloBytes) return error;
  const bool has_magic = std::equal(kMagic.begin(), kMagic.end(), raw(bytes));
  if (!has_magic) return error;
  Hello hello;
  hello.version = static_cast<std::uint16_t>(get(bytes, kVersionAt, 2));
  // What follows may be laid out differently in another version, which is refused anyway.
  if (hello.version != wire::kWireVersion) return hello;
  const std::uint64_t role = get(bytes, kRoleAt, 1);
  const bool is_known = role == static_cast<std::uint64_t>(Role::kDaemon) ||
                        role == static_cast<std::uint64_t>(Role::kClient);
  if (!is_known || !is_zero(bytes.subspan(kReservedAt, kMeshAt - kReservedAt)) ||
      !is_zero(bytes.subspan(kTailAt))) {
    return error;
  }
  hello.role = static_cast<Role>(role);
  std::copy_n(bytes.begin() + kMeshAt, hello.mesh.size(), hello.mesh.begin());
  std::copy_n(bytes.begin() + kNonceAt, hello.nonce.size(), hello.nonce.begin());
  hello.self = ProcessorId{static_cast<std::uint32_t>(get(bytes, kSelfAt, 4))};
  hello.expected = ProcessorId{static_cast<std::uint32_t>(get(bytes, kExpectedAt, 4))};
  hello.incarnation = get(bytes, kIncarnationAt, 8);
  const bool has_name = hello.self != kNobody;
  if (has_name != (hello.role == Role::kDaemon)) return error;
  return hello;
}

MeshId mesh_id(const MeshKey& key) {
  constexpr std::string_view kLabel = "phoenix mesh id";
  const Proof hash = keyed_hash(key, std::as_bytes(std::span(kLabel)));
  MeshId id{};
  std::copy_n(hash.begin(), id.size(), id.begin());
  return id;
}

Nonce fresh_nonce() {
  Nonce nonce{};
  PHX_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()),
                       static_cast<int>(nonce.size())) == 1);
  return nonce;
}

Handshake::Handshake(Side side, const MeshKey& key, const Identity& identity, const Nonce& nonce)
    : side_(side),
      key_(key),
      own_{.version = wire::kWireVersion,
           .role = identity.role,
           .mesh = mesh_id(key),
           .nonce = nonce,
           .self = identity.self,
           .expected = identity.expected,
           .incarnation = identity.incarnation},
      own_bytes_(encode(own_)) {}

Status Handshake::on_hello(std::span<const std::byte> bytes) {
  const Result<Hello> decoded = decode_hello(bytes);
  if (!decoded.ok()) return decoded.error();
  const Hello& hello = decoded.value();
  if (hello.version != own_.version) {
    return Error{ErrorCode::kBadVersion, "the other side speaks wire version " +
                                             std::to_string(hello.version) + ", this one " +
                                             std::to_string(own_.version) +
                                             "; install the same release of Phoenix on both"};
  }
  if (hello.mesh != own_.mesh) {
    return Error{ErrorCode::kDenied,
                 "the other side has another key: it belongs to another mesh, or the key file was "
                 "not copied"};
  }
  const bool dials = side_ == Side::kDialler;
  if (dials && hello.role != Role::kDaemon) {
    return Error{ErrorCode::kBadInput, "the other side is not a daemon"};
  }
  const ProcessorId wanted = dials ? own_.expected : hello.expected;
  const ProcessorId met = dials ? hello.self : own_.self;
  if (wanted != kNobody && wanted != met) {
    return Error{ErrorCode::kNotFound,
                 to_string(wanted) + " is expected, but " + to_string(met) + " listens there"};
  }
  peer_ = hello;
  std::copy(bytes.begin(), bytes.end(), peer_bytes_.begin());
  met_ = true;
  return success();
}

Status Handshake::on_proof(std::span<const std::byte> bytes) const {
  const Proof right = proof_of(side_ == Side::kDialler ? Side::kAcceptor : Side::kDialler);
  const bool is_right =
      bytes.size() == right.size() && CRYPTO_memcmp(bytes.data(), right.data(), right.size()) == 0;
  if (!is_right) return Error{ErrorCode::kDenied, "the other side does not know the mesh's key"};
  return success();
}

Proof Handshake::proof_of(Side prover) const {
  PHX_CHECK(met_);
  const bool dials = side_ == Side::kDialler;
  const HelloBytes& dialler = dials ? own_bytes_ : peer_bytes_;
  const HelloBytes& acceptor = dials ? peer_bytes_ : own_bytes_;
  // The label keeps a proof from being reflected to the one who made it.
  const std::string_view label =
      prover == Side::kDialler ? "phoenix proof of the dialler" : "phoenix proof of the acceptor";
  Bytes text(label.size() + 2 * kHelloBytes);
  const std::span<const std::byte> label_bytes = std::as_bytes(std::span(label));
  auto at = std::copy(label_bytes.begin(), label_bytes.end(), text.begin());
  at = std::copy(dialler.begin(), dialler.end(), at);
  std::copy(acceptor.begin(), acceptor.end(), at);
  return keyed_hash(key_, text);
}

}  // namespace phx::tcp
