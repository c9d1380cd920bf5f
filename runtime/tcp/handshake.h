#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "overlay/base/ids.h"
#include "overlay/base/result.h"
#include "runtime/tcp/key.h"

namespace phx::tcp {

/// What the one who opens a connection is. Who accepts is always a daemon.
enum class Role : std::uint8_t {
  kDaemon = 1,  ///< Another processor of the mesh.
  kClient = 2,  ///< A tool, or a process that wants to become a processor.
};

using Nonce = std::array<std::byte, 32>;
/// Tells meshes apart without telling the key.
using MeshId = std::array<std::byte, 16>;

/// What each side says first [README.md "The handshake"].
struct Hello {
  std::uint16_t version = 0;
  Role role = Role::kDaemon;
  MeshId mesh{};
  Nonce nonce{};                  ///< Fresh for every connection: nothing can be replayed.
  ProcessorId self;               ///< kNobody: a client.
  ProcessorId expected;           ///< Who the sender wants to talk to; kNobody: anybody.
  std::uint64_t incarnation = 0;  ///< Of the sender's process.
  friend bool operator==(const Hello&, const Hello&) = default;
};

inline constexpr std::size_t kHelloBytes = 88;
inline constexpr std::size_t kProofBytes = 32;
using HelloBytes = std::array<std::byte, kHelloBytes>;
using Proof = std::array<std::byte, kProofBytes>;

[[nodiscard]] HelloBytes encode(const Hello& hello);
/// kBadInput: these bytes are no hello.
[[nodiscard]] Result<Hello> decode_hello(std::span<const std::byte> bytes);

[[nodiscard]] MeshId mesh_id(const MeshKey& key);
/// Aborts if the system gives no random bytes.
[[nodiscard]] Nonce fresh_nonce();

/// One side's part of one handshake, without I/O: both show that they know the key, and neither
/// learns it. Order of calls: on_hello, on_proof. Any failure ends the connection.
class Handshake {
 public:
  enum class Side : std::uint8_t { kDialler, kAcceptor };

  /// What this side says about itself; the rest of the hello follows from the key.
  struct Identity {
    Role role = Role::kDaemon;
    ProcessorId self{};
    ProcessorId expected{};  ///< Of the dialler; kNobody: anybody.
    std::uint64_t incarnation = 0;
  };
  Handshake(Side side, const MeshKey& key, const Identity& identity, const Nonce& nonce);

  /// kBadInput: no hello; kBadVersion; kDenied: another mesh; kNotFound: another processor than
  /// the one expected.
  [[nodiscard]] Status on_hello(std::span<const std::byte> bytes);
  /// kDenied: the peer does not know the key. REQUIRES a successful on_hello().
  [[nodiscard]] Status on_proof(std::span<const std::byte> bytes) const;

  [[nodiscard]] Side side() const { return side_; }
  /// To be sent to the peer.
  [[nodiscard]] const HelloBytes& hello() const { return own_bytes_; }
  /// To be sent to the peer. REQUIRES a successful on_hello().
  [[nodiscard]] Proof proof() const { return proof_of(side_); }
  /// What the peer said; to be believed after on_proof().
  [[nodiscard]] const Hello& peer() const { return peer_; }

 private:
  [[nodiscard]] Proof proof_of(Side prover) const;

  Side side_;
  MeshKey key_;
  Hello own_;
  HelloBytes own_bytes_;
  Hello peer_;
  HelloBytes peer_bytes_{};
  bool met_ = false;  ///< The peer's hello was good.
};

}  // namespace phx::tcp
