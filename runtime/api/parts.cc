#include "runtime/api/parts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace phx {
namespace {

constexpr std::uint64_t kApart = ~std::uint64_t{0};

struct Joined {
  std::vector<std::uint64_t> sizes;  ///< One, if all are equal.
  Bytes bytes;
  void state(auto& io) { io(sizes, bytes); }
};

Failure damaged() {
  return {ErrorCode::kBadInput, "the values of a collective are damaged"};
}

void append(Bytes& to, const Payload& value) {
  to.insert(to.end(), value.bytes().begin(), value.bytes().end());
}

/// A part begins with its call, and this if the value comes by another way.
constexpr std::byte kIsApart{0x80};

std::string name_of(Gathering call) {
  switch (call) {
    case Gathering::kGather:
      return "gather";
    case Gathering::kAllgather:
      return "allgather";
    case Gathering::kAlltoall:
      return "alltoall";
  }
  return "another collective";
}

/// What part_of() made of the value of this vnode. Whoever makes a reduction of another kind has
/// given nothing [collectives/accumulator.h].
std::optional<Payload> value_of_part(Gathering call, std::size_t vnode, const Payload& part) {
  const std::byte begin = part.size() == 0 ? std::byte{0} : part.bytes().front();
  const auto made = static_cast<Gathering>(begin & ~kIsApart);
  if (made != call) {
    throw Failure(ErrorCode::kBadInput, name_of(call) + ": v" + std::to_string(vnode) +
                                            " has called " + name_of(made) + " instead");
  }
  if ((begin & kIsApart) != std::byte{0}) return std::nullopt;
  return part.slice(1, part.size() - 1);
}

}  // namespace

std::size_t size_of(const std::vector<Payload>& values) {
  return std::transform_reduce(values.begin(), values.end(), std::size_t{0}, std::plus<>(),
                               [](const Payload& value) { return value.size(); });
}

Payload join(const Parts& parts) {
  Joined joined;
  for (const auto& part : parts) {
    joined.sizes.push_back(part ? part->size() : kApart);
    if (part) append(joined.bytes, *part);
  }
  const std::vector<std::uint64_t>& sizes = joined.sizes;
  const bool are_equal =
      std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
  if (are_equal && !sizes.empty()) joined.sizes.resize(1);
  return encode(joined);
}

Parts split(const Payload& payload, std::size_t count) {
  auto joined = decode<Joined>(payload);
  if (joined.sizes.size() == 1) joined.sizes.resize(count, joined.sizes.front());
  if (joined.sizes.size() != count) throw damaged();
  // The bytes stand at the end of it.
  std::size_t at = payload.size() - joined.bytes.size();
  Parts parts;
  for (const std::uint64_t size : joined.sizes) {
    if (size == kApart) {
      parts.emplace_back();
      continue;
    }
    if (size > payload.size() - at) throw damaged();
    parts.emplace_back(payload.slice(at, static_cast<std::size_t>(size)));
    at += static_cast<std::size_t>(size);
  }
  if (at != payload.size()) throw damaged();
  return parts;
}

Payload part_of(Gathering call, const Payload& value, bool is_apart) {
  Bytes bytes{static_cast<std::byte>(call) | (is_apart ? kIsApart : std::byte{0})};
  if (!is_apart) append(bytes, value);
  return Payload(std::move(bytes));
}

Reduction gathering(Gathering call) {
  const collectives::ReductionKind kind{
      collectives::ReduceOp::kGather, collectives::ReduceType::kBytes, call != Gathering::kGather};
  return {kind, 0, [call](const std::vector<Payload>& values) {
            Parts parts;
            for (const Payload& value : values) {
              parts.push_back(value_of_part(call, parts.size(), value));
            }
            return join(parts);
          }};
}

}  // namespace phx
