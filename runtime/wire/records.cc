#include "runtime/wire/records.h"

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "overlay/base/check.h"
#include "runtime/wire/numbers.h"

namespace phx::wire {
namespace {

using runtime::FlowCredit;
using runtime::PointToPoint;
using runtime::VnodeMessage;

enum class Kind : std::uint8_t { kPiece = 1, kCredit = 2, kAck = 3 };

// Sizes: what every record begins with, its parts, and what families put between.
constexpr std::size_t kBeginning = 4;
constexpr std::size_t kPieceBytes = 28;
constexpr std::size_t kCreditBytes = 40;
constexpr std::size_t kFrameBytes = 24;
constexpr std::size_t kDeliverBytes = 8;
constexpr std::size_t kAckBytes = 8;

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();

bool fits(const PointToPoint& m) {
  return m.from.value <= kMost32 && m.to.value <= kMost32 && m.rest <= kMost32 &&
         m.payload.size() <= kMost32;
}
bool fits(const FlowCredit& m) {
  const bool has_next = !m.again || *m.again < std::numeric_limits<std::uint64_t>::max();
  return m.from.value <= kMost32 && m.to.value <= kMost32 && has_next;
}

/// Puts numbers one behind the other, little-endian.
class Writer {
 public:
  Writer(std::span<std::byte> to, Kind kind) : to_(to) {
    put<std::uint8_t>(0);
    put<std::uint8_t>(static_cast<std::uint8_t>(kind));
    put<std::uint16_t>(0);
  }
  template <class Number>
  void put(std::uint64_t value) {
    PHX_CHECK(to_.size() - at_ >= sizeof(Number));
    write_number(to_.subspan(at_), static_cast<Number>(value));
    at_ += sizeof(Number);
  }

 private:
  std::span<std::byte> to_;
  std::size_t at_ = 0;
};

/// Takes them out again. Behind the end everything is 0, and is_over() false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> from) : from_(from) {}
  template <class Number>
  [[nodiscard]] Number get() {
    is_short_ = is_short_ || from_.size() - at_ < sizeof(Number);
    if (is_short_) return 0;
    const auto value = read_number<Number>(from_.subspan(at_));
    at_ += sizeof(Number);
    return value;
  }
  [[nodiscard]] VnodeId vnode(const char* field) {
    const VnodeId id{get<std::uint32_t>()};
    require(id.value < kVnodeIdEnd, field);
    return id;
  }
  /// Only the kind, if it is one of these.
  [[nodiscard]] Kind beginning() {
    const auto mark = get<std::uint8_t>();
    const Kind kind{get<std::uint8_t>()};
    require(mark == 0 && get<std::uint16_t>() == 0, "the beginning of the record");
    return kind;
  }
  /// What was read is the whole record, and of a kind, and may hold these values.
  [[nodiscard]] Status finish(bool is_known) const {
    if (!is_known) return Error{ErrorCode::kBadInput, "a record of an unknown kind"};
    if (is_short_ || at_ != from_.size()) {
      return Error{ErrorCode::kBadInput, "a record of a wrong size"};
    }
    if (wrong_ == nullptr) return success();
    return Error{ErrorCode::kBadInput, std::string("a message with a bad field: ") + wrong_};
  }
  void require(bool holds, const char* field) {
    if (!holds && wrong_ == nullptr) wrong_ = field;
  }

 private:
  std::span<const std::byte> from_;
  std::size_t at_ = 0;
  bool is_short_ = false;
  const char* wrong_ = nullptr;  ///< The first such field.
};

Payload write(const PointToPoint& in, Writer& out) {
  const auto& [from, to, seq, tag, rest, payload] = in;
  out.put<std::uint32_t>(from.value);
  out.put<std::uint32_t>(to.value);
  out.put<std::uint64_t>(seq);
  out.put<std::uint32_t>(tag);
  out.put<std::uint32_t>(rest);
  out.put<std::uint32_t>(payload.size());
  return payload;
}

PointToPoint read_piece(Reader& in, Payload payload) {
  PointToPoint piece;
  piece.from = in.vnode("PointToPoint.from");
  piece.to = in.vnode("PointToPoint.to");
  piece.seq = in.get<std::uint64_t>();
  piece.tag = in.get<std::uint32_t>();
  piece.rest = in.get<std::uint32_t>();
  in.require(in.get<std::uint32_t>() == payload.size(), "PointToPoint.payload");
  piece.payload = std::move(payload);
  return piece;
}

Payload write(const FlowCredit& in, Writer& out) {
  const auto& [from, to, received, limit, again, reduced] = in;
  out.put<std::uint32_t>(from.value);
  out.put<std::uint32_t>(to.value);
  out.put<std::uint64_t>(received);
  out.put<std::uint64_t>(limit);
  out.put<std::uint64_t>(again ? *again + 1 : 0);
  out.put<std::uint64_t>(reduced);
  return {};
}

FlowCredit read_credit(Reader& in, const Payload& payload) {
  FlowCredit credit;
  credit.from = in.vnode("FlowCredit.from");
  credit.to = in.vnode("FlowCredit.to");
  credit.received = in.get<std::uint64_t>();
  credit.limit = in.get<std::uint64_t>();
  const auto again = in.get<std::uint64_t>();
  if (again != 0) credit.again = again - 1;
  credit.reduced = in.get<std::uint64_t>();
  in.require(payload.empty(), "FlowCredit.payload");
  return credit;
}

/// Calls `use(part, kind, size)` for the piece or the credit in a variant; else returns `none`.
template <class Variant, class Result, class Use>
Result with_part(const Variant& delivery, Result none, Use use) {
  return std::visit(
      [&]<class Part>(const Part& part) -> Result {
        if constexpr (std::is_same_v<Part, PointToPoint>) {
          return fits(part) ? use(part, Kind::kPiece, kPieceBytes) : none;
        } else if constexpr (std::is_same_v<Part, FlowCredit>) {
          return fits(part) ? use(part, Kind::kCredit, kCreditBytes) : none;
        } else {
          return none;
        }
      },
      delivery);
}

const auto kSizeOf = [](const auto& /*part*/, Kind /*kind*/, std::size_t size) { return size; };

}  // namespace

// --- Frames --------------------------------------------------------------------------------------

std::size_t record_size(const runtime::Frame& message) {
  if (!message.envelope || message.passage) return 0;
  const auto* vnode_message = std::get_if<VnodeMessage>(&*message.envelope);
  if (vnode_message == nullptr || vnode_message->followed > kMost32) return 0;
  const auto size = with_part(vnode_message->delivery, std::size_t{0}, kSizeOf);
  return size == 0 ? 0 : kBeginning + kFrameBytes + size;
}

Payload write_record(const runtime::Frame& message, std::span<std::byte> to) {
  const auto& carried = std::get<VnodeMessage>(*message.envelope);
  return with_part(carried.delivery, Payload(), [&](const auto& part, Kind kind, std::size_t) {
    Writer out(to, kind);
    out.put<std::uint32_t>(carried.job.value);
    out.put<std::uint64_t>(message.seq);
    out.put<std::uint64_t>(message.received);
    out.put<std::uint32_t>(carried.followed);
    return write(part, out);
  });
}

Status read_record(std::span<const std::byte> record, Payload payload, runtime::Frame& message) {
  Reader in(record);
  const Kind kind = in.beginning();
  VnodeMessage vnode_message;
  vnode_message.job = JobId{in.get<std::uint32_t>()};
  message.seq = in.get<std::uint64_t>();
  in.require(message.seq != 0, "Frame.seq");
  message.received = in.get<std::uint64_t>();
  vnode_message.followed = in.get<std::uint32_t>();
  if (kind == Kind::kPiece) {
    vnode_message.delivery = read_piece(in, std::move(payload));
  } else if (kind == Kind::kCredit) {
    vnode_message.delivery = read_credit(in, payload);
  }
  message.envelope = std::move(vnode_message);
  return in.finish(kind == Kind::kPiece || kind == Kind::kCredit);
}

// --- Application to daemon -----------------------------------------------------------------------

std::size_t record_size(const runtime::ToDaemon& message) {
  if (const auto* send = std::get_if<runtime::AppSend>(&message)) {
    return fits(send->message) ? kBeginning + kPieceBytes : 0;
  }
  if (const auto* flow = std::get_if<runtime::AppFlow>(&message)) {
    const auto size = with_part(flow->message, std::size_t{0}, kSizeOf);
    return size == 0 ? 0 : kBeginning + size;
  }
  return std::holds_alternative<runtime::AppAck>(message) ? kBeginning + kAckBytes : 0;
}

Payload write_record(const runtime::ToDaemon& message, std::span<std::byte> to) {
  if (const auto* send = std::get_if<runtime::AppSend>(&message)) {
    Writer out(to, Kind::kPiece);
    return write(send->message, out);
  }
  if (const auto* flow = std::get_if<runtime::AppFlow>(&message)) {
    Writer out(to, Kind::kCredit);
    return write(std::get<FlowCredit>(flow->message), out);
  }
  Writer out(to, Kind::kAck);
  out.put<std::uint64_t>(std::get<runtime::AppAck>(message).received);
  return {};
}

Status read_record(std::span<const std::byte> record, Payload payload, runtime::ToDaemon& message) {
  Reader in(record);
  const Kind kind = in.beginning();
  if (kind == Kind::kPiece) {
    message = runtime::AppSend{read_piece(in, std::move(payload))};
  } else if (kind == Kind::kCredit) {
    message = runtime::AppFlow{read_credit(in, payload)};
  } else if (kind == Kind::kAck) {
    message = runtime::AppAck{in.get<std::uint64_t>()};
    in.require(payload.empty(), "AppAck.payload");
  }
  return in.finish(kind >= Kind::kPiece && kind <= Kind::kAck);
}

// --- Daemon to application -----------------------------------------------------------------------

std::size_t record_size(const runtime::ToApplication& message) {
  const auto* deliver = std::get_if<runtime::AppDeliver>(&message);
  if (deliver == nullptr) return 0;
  const auto size = with_part(deliver->delivery, std::size_t{0}, kSizeOf);
  return size == 0 ? 0 : kBeginning + kDeliverBytes + size;
}

Payload write_record(const runtime::ToApplication& message, std::span<std::byte> to) {
  const auto& deliver = std::get<runtime::AppDeliver>(message);
  return with_part(deliver.delivery, Payload(), [&](const auto& part, Kind kind, std::size_t) {
    Writer out(to, kind);
    out.put<std::uint64_t>(deliver.seq);
    return write(part, out);
  });
}

Status read_record(std::span<const std::byte> record, Payload payload,
                   runtime::ToApplication& message) {
  Reader in(record);
  const Kind kind = in.beginning();
  runtime::AppDeliver deliver;
  deliver.seq = in.get<std::uint64_t>();
  if (kind == Kind::kPiece) {
    deliver.delivery = read_piece(in, std::move(payload));
  } else if (kind == Kind::kCredit) {
    deliver.delivery = read_credit(in, payload);
  }
  message = std::move(deliver);
  return in.finish(kind == Kind::kPiece || kind == Kind::kCredit);
}

}  // namespace phx::wire
