#include "runtime/tcp/handshake.h"

#include <doctest/doctest.h>

#include "runtime/wire/framing.h"
#include "tests/tcp/loop.h"

namespace phx::tcp::handshake_test {
namespace {

using Side = Handshake::Side;

Nonce nonce_of(unsigned char value) {
  return test::key_of(value);
}

Handshake dialler(unsigned char key = 1, ProcessorId expected = ProcessorId{7}) {
  return {Side::kDialler,
          test::key_of(key),
          {.role = Role::kDaemon, .self = ProcessorId{3}, .expected = expected, .incarnation = 33},
          nonce_of(100)};
}

Handshake acceptor(unsigned char key = 1, unsigned char nonce = 200) {
  return {Side::kAcceptor,
          test::key_of(key),
          {.role = Role::kDaemon, .self = ProcessorId{7}, .expected = {}, .incarnation = 77},
          nonce_of(nonce)};
}

}  // namespace

TEST_SUITE_BEGIN("tcp/handshake");

TEST_CASE("a hello survives its bytes") {
  const Hello hello{.version = wire::kWireVersion,
                    .role = Role::kDaemon,
                    .mesh = mesh_id(test::key_of(5)),
                    .nonce = nonce_of(9),
                    .self = ProcessorId{0x01020304},
                    .expected = ProcessorId{0xfffffffe},
                    .incarnation = 0x1122334455667788};

  const auto decoded = decode_hello(encode(hello));

  REQUIRE(decoded.ok());
  CHECK(decoded.value() == hello);
}

TEST_CASE("two who know the key believe each other, and who the other is") {
  Handshake a = dialler();
  Handshake b = acceptor();

  REQUIRE(a.on_hello(b.hello()).ok());
  REQUIRE(b.on_hello(a.hello()).ok());

  CHECK(a.on_proof(b.proof()).ok());
  CHECK(b.on_proof(a.proof()).ok());
  CHECK(a.peer().self == ProcessorId{7});
  CHECK(a.peer().incarnation == 77);
  CHECK(b.peer().self == ProcessorId{3});
  CHECK(b.peer().role == Role::kDaemon);
}

TEST_CASE("another key is told apart at once") {
  Handshake a = dialler(1);
  Handshake b = acceptor(2);

  CHECK(a.on_hello(b.hello()).error().code == ErrorCode::kDenied);
  CHECK(b.on_hello(a.hello()).error().code == ErrorCode::kDenied);
}

TEST_CASE("who copies the mesh's name without its key fails at the proof") {
  Handshake b = acceptor(1);
  Handshake liar = dialler(2);
  Hello hello = decode_hello(liar.hello()).value();
  hello.mesh = mesh_id(test::key_of(1));
  REQUIRE(b.on_hello(encode(hello)).ok());
  Handshake other = acceptor(2);
  REQUIRE(liar.on_hello(other.hello()).ok());

  CHECK(b.on_proof(liar.proof()).error().code == ErrorCode::kDenied);
}

TEST_CASE("a proof is of no use on another connection") {
  Handshake a = dialler();
  Handshake first = acceptor(1, 200);
  Handshake second = acceptor(1, 201);
  REQUIRE(a.on_hello(first.hello()).ok());
  REQUIRE(first.on_hello(a.hello()).ok());
  REQUIRE(second.on_hello(a.hello()).ok());
  REQUIRE(first.on_proof(a.proof()).ok());

  CHECK(second.on_proof(a.proof()).error().code == ErrorCode::kDenied);
}

TEST_CASE("a proof cannot be reflected to its maker") {
  Handshake a = dialler();
  Handshake b = acceptor();
  REQUIRE(a.on_hello(b.hello()).ok());
  REQUIRE(b.on_hello(a.hello()).ok());

  CHECK(!b.on_proof(b.proof()).ok());
  CHECK(!a.on_proof(a.proof()).ok());
}

TEST_CASE("a proof with one bit changed, or cut short, is refused") {
  Handshake a = dialler();
  Handshake b = acceptor();
  REQUIRE(a.on_hello(b.hello()).ok());
  REQUIRE(b.on_hello(a.hello()).ok());

  for (std::size_t i = 0; i < kProofBytes; ++i) {
    Proof proof = a.proof();
    proof[i] ^= std::byte{1};
    CHECK(!b.on_proof(proof).ok());
  }
  const Proof proof = a.proof();
  CHECK(!b.on_proof(std::span(proof).first(kProofBytes - 1)).ok());
  CHECK(!b.on_proof({}).ok());
}

TEST_CASE("a hello with any byte changed fails, at once or at the proof") {
  for (std::size_t i = 0; i < kHelloBytes; ++i) {
    CAPTURE(i);
    Handshake a = dialler();
    Handshake b = acceptor();
    HelloBytes changed = a.hello();
    changed[i] ^= std::byte{0x80};

    const Status met = b.on_hello(changed);
    REQUIRE(a.on_hello(b.hello()).ok());

    CHECK((!met.ok() || !b.on_proof(a.proof()).ok()));
  }
}

TEST_CASE("a hello that is cut short is none") {
  const Handshake a = dialler();
  for (std::size_t size = 0; size < kHelloBytes; ++size) {
    Handshake b = acceptor();
    CHECK(b.on_hello(std::span(a.hello()).first(size)).error().code == ErrorCode::kBadInput);
  }
}

TEST_CASE("another wire version is named in the error") {
  Handshake b = acceptor();
  Hello hello = decode_hello(dialler().hello()).value();
  hello.version = 99;

  const Status status = b.on_hello(encode(hello));

  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::kBadVersion);
  CHECK(status.error().what.find("99") != std::string::npos);
}

TEST_CASE("the one who answers must be the one who was called") {
  Handshake a = dialler(1, ProcessorId{8});
  Handshake b = acceptor();

  CHECK(a.on_hello(b.hello()).error().code == ErrorCode::kNotFound);
  CHECK(b.on_hello(a.hello()).error().code == ErrorCode::kNotFound);
}

TEST_CASE("a daemon has a name and a tool has none") {
  Handshake b = acceptor();
  Hello hello = decode_hello(dialler().hello()).value();

  hello.self = kNobody;
  CHECK(b.on_hello(encode(hello)).error().code == ErrorCode::kBadInput);
  hello.role = Role::kClient;
  CHECK(b.on_hello(encode(hello)).ok());
  hello.self = ProcessorId{4};
  CHECK(b.on_hello(encode(hello)).error().code == ErrorCode::kBadInput);
}

TEST_SUITE_END();

}  // namespace phx::tcp::handshake_test
