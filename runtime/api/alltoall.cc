#include "runtime/api/alltoall.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "runtime/api/failure.h"

namespace phx {
namespace {

/// A row up to here, with the sizes of its values, goes to everybody.
constexpr std::size_t kShortRow = std::size_t{8} << 10U;
/// In the mean: what costs less to copy than to send alone.
constexpr std::size_t kCopied = std::size_t{2} << 10U;

// What a part begins with. Behind it stands the row, or in whose name it is sent.
constexpr std::byte kInline{0};
constexpr std::byte kSent{1};

Payload marked(std::byte mark, std::span<const std::byte> bytes) {
  Bytes all{mark};
  all.insert(all.end(), bytes.begin(), bytes.end());
  return Payload(std::move(all));
}

Failure damaged(Vnode from) {
  return {ErrorCode::kBadInput,
          "alltoall: the values of v" + std::to_string(from) + " are damaged"};
}

}  // namespace

Alltoall::Alltoall(std::uint64_t vnodes, const Rows& rows) : vnodes_(vnodes), rows_(rows) {
  std::vector<Vnode> apart;
  std::size_t bytes = 0;
  for (const auto& [from, row] : rows) {
    const std::size_t size = size_of(row);
    if (size <= kShortRow) {
      Payload joined = join(Parts(row.begin(), row.end()));
      if (joined.size() <= kShortRow) {
        inline_.emplace(from, std::move(joined));
        continue;
      }
    }
    apart.push_back(from);
    bytes += size;
  }
  const bool is_one = bytes < kCopied * apart.size() * vnodes;
  for (const Vnode from : apart) sent_[is_one ? apart.front() : from].push_back(from);
}

VnodeValues Alltoall::parts() const {
  VnodeValues parts;
  for (const auto& [from, row] : inline_) parts.emplace_back(from, marked(kInline, row.bytes()));
  for (const auto& [name, senders] : sent_) {
    for (const Vnode from : senders) {
      parts.emplace_back(from, marked(kSent, std::as_bytes(std::span(&name, 1))));
    }
  }
  for (auto& [from, part] : parts) part = part_of(Gathering::kAlltoall, part, false);
  return parts;
}

std::deque<PastTrees::Sent> Alltoall::sends() const {
  std::deque<PastTrees::Sent> sends;
  for (const auto& [name, senders] : sent_) {
    std::vector<const std::vector<Payload>*> rows;
    for (const Vnode from : senders) rows.push_back(&rows_.at(from));
    // Everybody begins with another one, so that not all send to the same one first.
    for (std::uint64_t i = 1; i <= vnodes_; ++i) {
      const Vnode to = (name + i) % vnodes_;
      if (rows_.contains(to)) continue;
      Parts values;
      for (const auto* row : rows) values.emplace_back((*row)[static_cast<std::size_t>(to)]);
      sends.push_back({name, to, values.size() == 1 ? *values.front() : join(values)});
    }
  }
  return sends;
}

/// What `from`, which is held elsewhere, has contributed.
void Alltoall::read(Vnode from, const Payload& part) {
  if (part.size() == 0) throw damaged(from);
  const Payload rest = part.slice(1, part.size() - 1);
  if (part.bytes().front() == kInline) {
    const Parts row = split(rest, static_cast<std::size_t>(vnodes_));
    for (auto& [to, column] : columns_) {
      column[static_cast<std::size_t>(from)] =
          row[static_cast<std::size_t>(to)].value_or(Payload());
    }
    return;
  }
  Vnode name = 0;
  if (rest.size() != sizeof(name)) throw damaged(from);
  std::memcpy(&name, rest.bytes().data(), sizeof(name));
  if (name >= vnodes_ || rows_.contains(name)) throw damaged(from);
  awaited_[name].push_back(from);
}

std::vector<PastTrees::Expected> Alltoall::expected(const Parts& all) {
  for (const auto& [to, row] : rows_) {
    std::vector<Payload>& column = columns_[to];
    column.resize(static_cast<std::size_t>(vnodes_));
    for (const auto& [from, values] : rows_) {
      column[static_cast<std::size_t>(from)] = values[static_cast<std::size_t>(to)];
    }
  }
  for (Vnode from = 0; from < vnodes_; ++from) {
    if (!rows_.contains(from)) read(from, all[static_cast<std::size_t>(from)].value_or(Payload()));
  }
  for (const auto& [name, senders] : awaited_) {
    for (const auto& [to, column] : columns_) expected_.push_back({to, name});
  }
  return expected_;
}

Alltoall::Rows Alltoall::columns(const std::vector<Payload>& received) {
  for (std::size_t i = 0; i < received.size(); ++i) {
    std::vector<Payload>& column = columns_[expected_[i].at];
    const std::vector<Vnode>& senders = awaited_[expected_[i].from];
    const Parts values =
        senders.size() == 1 ? Parts{received[i]} : split(received[i], senders.size());
    for (std::size_t k = 0; k < senders.size(); ++k) {
      column[static_cast<std::size_t>(senders[k])] = values[k].value_or(Payload());
    }
  }
  return std::move(columns_);
}

}  // namespace phx
