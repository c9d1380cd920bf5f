#include "runtime/api/parts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "runtime/api/reader.h"
#include "runtime/api/writer.h"

namespace phx {
namespace {

constexpr std::uint64_t kApart = ~std::uint64_t{0};

Failure damaged() {
  return {ErrorCode::kBadInput, "the values of a collective are damaged"};
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

/// It begins with the sizes, or with one if all are equal, and so many bytes follow.
Payload join(const Parts& parts) {
  std::vector<std::uint64_t> sizes;
  std::vector<Payload> all(1);
  std::size_t bytes = 0;
  for (const auto& part : parts) {
    sizes.push_back(part ? part->size() : kApart);
    if (!part) continue;
    all.push_back(*part);
    bytes += part->size();
  }
  const bool are_equal =
      std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
  if (are_equal && !sizes.empty()) sizes.resize(1);
  Writer out;
  out(sizes, bytes);
  all.front() = Payload(out.take());
  return joined(all);
}

Parts split(const Payload& payload, std::size_t count) {
  std::vector<std::uint64_t> sizes;
  std::size_t bytes = 0;
  Reader in(payload.bytes());
  in(sizes, bytes);
  if (in.left() != bytes) throw damaged();
  if (sizes.size() == 1) sizes.resize(count, sizes.front());
  if (sizes.size() != count) throw damaged();
  std::size_t at = payload.size() - bytes;
  Parts parts;
  for (const std::uint64_t size : sizes) {
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
  const std::byte begin = static_cast<std::byte>(call) | (is_apart ? kIsApart : std::byte{0});
  const Payload mark(Bytes{begin});
  return is_apart ? mark : joined({mark, value});
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
