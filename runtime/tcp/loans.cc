#include "runtime/tcp/loans.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace phx::tcp {

/// As it stands on the link; both ends are of one machine, so the byte order is its own.
struct Loans::Reference {
  enum class Kind : std::uint32_t {
    kPool = 1,      ///< Control: `process` has a pool as `descriptor`, which is called `pool` here.
    kAccepted = 2,  ///< Control: it was opened; `borrower` is our number there.
    kBlock = 3,     ///< `size` bytes at `offset` of `block` of `pool`.
    kReturn = 4,    ///< Control: we need `pool` no more.
    kWithdraw = 5,  ///< Control: nothing of `pool` will follow; the number may mean another one.
    kRefused = 6,   ///< Control: it cannot be opened.
  };
  Kind kind = Kind::kPool;
  std::uint32_t pool = 0;
  std::uint32_t block = 0;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t borrower = 0;
  std::int32_t process = 0;
  std::int32_t descriptor = 0;
  std::uint64_t token = 0;

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

Loans::Loans(wire::Family family, SharedPools& pools, int socket) : family_(family), pools_(pools) {
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

std::shared_ptr<BlockPool> Loans::pool() const {
  return is_disabled_ || offered_.empty() ? nullptr : pools_.made();
}

bool Loans::is_lendable(const wire::Encoded& message) const {
  if (is_disabled_ || message.tail.size() != 1) return false;
  const std::size_t size = message.tail.front().size();
  if (size < kLongBytes || size > SharedMapping::kBlockBytes) return false;
  return wire::is_within(message, {});  // else it will be refused as it is
}

bool Loans::apply(wire::Encoded& message) {
  if (!is_lendable(message)) return false;
  const auto reference = lend(message.tail.front());
  if (reference) wire::replace_payload(message, reference->payload());
  return reference.has_value();
}

bool Loans::is_worth_waiting(const wire::Encoded& message) {
  if (!is_lendable(message)) return false;
  const std::shared_ptr<BlockPool>& own = pools_.own();
  if (!own || is_refused(own->mapping())) return false;
  const SharedPools::Found fresh{&own->mapping(), own->descriptor(), {}};
  if (const auto found = pools_.find(message.tail.front())) return !may_lend(*found);
  return !may_lend(fresh) || !own->take();
}

bool Loans::is_refused(const SharedMapping& mapping) const {
  return std::ranges::find(refused_, mapping.token()) != refused_.end();
}

/// The number of a pool on this link; nothing: the other end has not accepted it, or not yet.
std::optional<std::size_t> Loans::offer(const SharedMapping& mapping, int descriptor) {
  const std::uint64_t token = mapping.token();
  if (is_refused(mapping)) return std::nullopt;
  auto at = std::ranges::find(offered_, token, &Offered::token);
  if (at != offered_.end()) {
    if (!at->borrower) return std::nullopt;
    return at - offered_.begin();
  }
  at = std::ranges::find(offered_, std::uint64_t{0}, &Offered::token);
  if (at == offered_.end() && offered_.size() >= kPools) return std::nullopt;
  if (at == offered_.end()) at = offered_.insert(at, Offered());
  at->token = token;
  say({.kind = Reference::Kind::kPool,
       .pool = static_cast<std::uint32_t>(at - offered_.begin()),
       .process = ::getpid(),
       .descriptor = descriptor,
       .token = token});
  return std::nullopt;
}

bool Loans::may_lend(const SharedPools::Found& found) {
  const auto number = offer(*found.mapping, found.descriptor);
  return number && found.mapping->may_borrow(*offered_[*number].borrower);
}

std::optional<Loans::Reference> Loans::lend(const SharedPools::Found& found, std::size_t size) {
  const auto number = offer(*found.mapping, found.descriptor);
  if (!number || !found.mapping->lend(found.place.block, *offered_[*number].borrower)) {
    return std::nullopt;
  }
  return Reference{.kind = Reference::Kind::kBlock,
                   .pool = static_cast<std::uint32_t>(*number),
                   .block = found.place.block,
                   .offset = found.place.offset,
                   .size = static_cast<std::uint32_t>(size)};
}

std::optional<Loans::Reference> Loans::lend(const Payload& payload) {
  if (const auto found = pools_.find(payload)) return lend(*found, payload.size());
  const std::shared_ptr<BlockPool>& own = pools_.own();
  if (!own) return std::nullopt;
  SharedPools::Found fresh{&own->mapping(), own->descriptor(), {}};
  if (!may_lend(fresh)) return std::nullopt;
  const std::shared_ptr<std::byte[]> block = own->take();
  if (!block) return std::nullopt;
  std::memcpy(block.get(), payload.bytes().data(), payload.size());
  fresh.place = *own->mapping().find(Payload(block, {block.get(), payload.size()}));
  return lend(fresh, payload.size());
}

Result<Payload> Loans::resolve(const Payload& payload) {
  const auto reference = Reference::of(payload);
  if (!reference.ok()) return reference.error();
  const Reference& it = reference.value();
  if (it.kind == Reference::Kind::kBlock && it.pool < borrowed_.size() && borrowed_[it.pool].pool) {
    return borrowed_[it.pool].pool->take({it.block, it.offset}, it.size);
  }
  return Error{ErrorCode::kBadInput, "a reference to nothing"};
}

/// If it cannot be opened, the other end goes on without.
void Loans::on_offer(const Reference& offer) {
  forget_the_dead();  // there may be many, and room for so many only
  const bool may_open = !is_disabled_ && (peer_ <= 0 || peer_ == offer.process);
  auto pool = may_open ? pools_.borrow(offer.process, offer.descriptor, offer.token) : nullptr;
  if (!pool) return say({.kind = Reference::Kind::kRefused, .pool = offer.pool});
  if (borrowed_.size() <= offer.pool) borrowed_.resize(offer.pool + 1);
  say({.kind = Reference::Kind::kAccepted, .pool = offer.pool, .borrower = pool->borrower()});
  borrowed_[offer.pool] = {std::move(pool)};
}

Status Loans::on_control(const Payload& payload) {
  const auto reference = Reference::of(payload);
  if (!reference.ok()) return reference.error();
  const Reference& it = reference.value();
  Offered* const offered = it.pool < offered_.size() ? &offered_[it.pool] : nullptr;
  const bool is_offered = offered != nullptr && offered->token != 0;
  const bool is_borrowed = it.pool < borrowed_.size() && borrowed_[it.pool].pool;
  bool makes_sense = is_offered;
  switch (it.kind) {
    case Reference::Kind::kPool:
      makes_sense = it.pool < kPools && !is_borrowed;
      if (makes_sense) on_offer(it);
      break;
    case Reference::Kind::kAccepted:
      if (is_offered) offered->borrower = it.borrower;
      break;
    case Reference::Kind::kRefused:
      if (is_offered) refused_.push_back(std::exchange(*offered, {}).token);
      if (refused_.size() > kPools) refused_.pop_front();
      break;
    case Reference::Kind::kReturn:
      if (is_offered) *offered = {};
      if (is_offered) say({.kind = Reference::Kind::kWithdraw, .pool = it.pool});
      break;
    case Reference::Kind::kWithdraw:
      makes_sense = is_borrowed;
      if (is_borrowed) borrowed_[it.pool] = {};
      break;
    default:
      makes_sense = false;
  }
  if (makes_sense) return success();
  return Error{ErrorCode::kBadInput, "a frame without header that makes no sense"};
}

void Loans::forget_the_dead() {
  for (std::uint32_t i = 0; i < borrowed_.size(); ++i) {
    Borrowed& borrowed = borrowed_[i];
    if (!borrowed.pool || borrowed.is_returned || !borrowed.pool->mapping().is_orphaned()) continue;
    borrowed.is_returned = true;
    say({.kind = Reference::Kind::kReturn, .pool = i});
  }
}

}  // namespace phx::tcp
