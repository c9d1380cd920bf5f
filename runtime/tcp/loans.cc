#include "runtime/tcp/loans.h"

#include <sys/socket.h>

#include <cstring>
#include <optional>
#include <utility>

namespace phx::tcp {

/// As it stands on the link; both ends are of one machine, so the byte order is its own.
struct Loans::Reference {
  enum class Kind : std::uint32_t {
    kPool = 1,      ///< Control: `number` is the descriptor of the sender's pool.
    kAccepted = 2,  ///< Control: the receiver's pool was opened.
    kBlock = 3,     ///< `size` bytes at `offset` of block `number` of the sender's pool.
  };
  Kind kind = Kind::kPool;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;
  std::uint32_t reserved = 0;
  std::uint64_t number = 0;

  [[nodiscard]] Payload payload() const {
    Bytes bytes(sizeof(Reference));
    std::memcpy(bytes.data(), this, sizeof(Reference));
    return Payload(std::move(bytes));
  }
  [[nodiscard]] static Result<Reference> of(const Payload& payload) {
    Reference reference;
    if (payload.size() != sizeof(Reference)) {
      return Error{ErrorCode::kBadInput,
                   "a reference of " + std::to_string(payload.size()) + " bytes"};
    }
    std::memcpy(&reference, payload.bytes().data(), sizeof(Reference));
    return reference;
  }
};

Loans::Loans(wire::Family family, int socket) : family_(family) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) peer_ = peer.pid;
}

void Loans::say(const Reference& reference) {
  wire::Encoded control;
  control.head.resize(wire::kPrefixBytes);
  control.tail = {reference.payload()};
  wire::write_prefix({.family = family_,
                      .payload_size = sizeof(Reference),
                      .header_check = wire::check_of({}),
                      .is_reference = true},
                     control.head);
  controls_.push_back(std::move(control));
}

void Loans::open_pool() {
  if (pool_ || is_refused_) return;
  pool_ = BlockPool::create();
  is_refused_ = pool_ == nullptr;
  if (!pool_) return;
  say({.kind = Reference::Kind::kPool, .number = static_cast<std::uint64_t>(pool_->descriptor())});
}

bool Loans::is_lendable(const wire::Encoded& message) const {
  if (message.tail.size() != 1) return false;
  const std::size_t size = message.tail.front().size();
  if (size < kLongBytes || size > SharedMapping::kBlockBytes) return false;
  return wire::is_within(message, {});  // else it will be refused as it is
}

bool Loans::apply(wire::Encoded& message) {
  if (!is_lendable(message)) return false;
  open_pool();
  const auto reference = lend(message.tail.front());
  if (reference) wire::replace_payload(message, reference->payload());
  return reference.has_value();
}

bool Loans::is_worth_waiting(const wire::Encoded& message) {
  if (!is_lendable(message)) return false;
  open_pool();
  if (!pool_) return false;
  return !is_accepted_ || (!pool_->find(message.tail.front()) && !pool_->take());
}

std::optional<Loans::Reference> Loans::lend(const Payload& payload) {
  if (!is_accepted_) return std::nullopt;
  auto place = pool_->find(payload);
  std::shared_ptr<std::byte[]> block;
  if (!place) {
    block = pool_->take();
    if (!block) return std::nullopt;
    std::memcpy(block.get(), payload.bytes().data(), payload.size());
    place = pool_->find(Payload(block, {block.get(), payload.size()}));
  }
  pool_->lend(place->block);
  return Reference{.kind = Reference::Kind::kBlock,
                   .size = static_cast<std::uint32_t>(payload.size()),
                   .offset = place->offset,
                   .number = place->block};
}

Result<Payload> Loans::resolve(const Payload& payload) {
  const auto reference = Reference::of(payload);
  if (!reference.ok()) return reference.error();
  const auto& [kind, size, offset, reserved, number] = reference.value();
  if (kind == Reference::Kind::kBlock && borrowed_ && number < SharedMapping::kBlocks) {
    return borrowed_->take({static_cast<std::uint32_t>(number), offset}, size);
  }
  return Error{ErrorCode::kBadInput, "a reference to nothing"};
}

Status Loans::on_control(const Payload& payload) {
  const auto reference = Reference::of(payload);
  if (!reference.ok()) return reference.error();
  if (reference.value().kind == Reference::Kind::kAccepted && pool_) {
    is_accepted_ = true;
    return success();
  }
  if (reference.value().kind == Reference::Kind::kPool && !borrowed_) {
    const auto descriptor = static_cast<int>(reference.value().number);
    if (peer_ > 0) borrowed_ = BorrowedBlocks::open(peer_, descriptor);
    if (borrowed_) say({.kind = Reference::Kind::kAccepted});
    return success();  // if it cannot be opened, the other end goes on without
  }
  return Error{ErrorCode::kBadInput, "a frame without header that makes no sense"};
}

}  // namespace phx::tcp
