#include "runtime/wire/codec_delivery.h"

namespace phx::wire {

void write(const runtime::PointToPoint& in, pb::PointToPoint& out, Sink& sink) {
  const auto& [from, to, seq, tag, rest, payload] = in;
  out.set_from(from.value);
  out.set_to(to.value);
  out.set_seq(seq);
  out.set_tag(tag);
  out.set_rest(rest);
  out.set_payload_size(sink.payload(payload));
}

runtime::PointToPoint read(const pb::PointToPoint& in, Source& source) {
  return {.from = source.vnode(in.from(), "PointToPoint.from"),
          .to = source.vnode(in.to(), "PointToPoint.to"),
          .seq = in.seq(),
          .tag = in.tag(),
          .rest = in.rest(),
          .payload = source.payload(in.payload_size(), "PointToPoint.payload")};
}

void write(const runtime::FlowCredit& in, pb::FlowCredit& out) {
  const auto& [from, to, received, limit, again, reduced] = in;
  out.set_from(from.value);
  out.set_to(to.value);
  out.set_received(received);
  out.set_limit(limit);
  out.set_again(again ? *again + 1 : 0);
  out.set_reduced(reduced);
}

runtime::FlowCredit read(const pb::FlowCredit& in, Source& source) {
  runtime::FlowCredit out{.from = source.vnode(in.from(), "FlowCredit.from"),
                          .to = source.vnode(in.to(), "FlowCredit.to"),
                          .received = in.received(),
                          .limit = in.limit(),
                          .again = {},
                          .reduced = in.reduced()};
  if (in.again() != 0) out.again = in.again() - 1;
  return out;
}

void write(const runtime::FlowQuestion& in, pb::FlowQuestion& out) {
  const auto& [from, to, is_lost, end, reductions] = in;
  out.set_from(from.value);
  out.set_to(to.value);
  out.set_is_lost(is_lost);
  out.set_end(end);
  out.set_reductions(reductions);
}

runtime::FlowQuestion read(const pb::FlowQuestion& in, Source& source) {
  return {.from = source.vnode(in.from(), "FlowQuestion.from"),
          .to = source.vnode(in.to(), "FlowQuestion.to"),
          .is_lost = in.is_lost(),
          .end = in.end(),
          .reductions = in.reductions()};
}

void write(const runtime::CastCredit& in, pb::CastCredit& out) {
  const auto& [root, vnodes, received, limit, again, until] = in;
  out.set_root(root.value);
  write_set(vnodes, out.mutable_vnodes());
  out.set_received(received);
  out.set_limit(limit);
  out.set_again(again ? *again + 1 : 0);
  out.set_until(until.value_or(0));
}

runtime::CastCredit read(const pb::CastCredit& in, Source& source) {
  runtime::CastCredit out{.root = source.vnode(in.root(), "CastCredit.root"),
                          .vnodes = read_vnodes(in.vnodes(), source, "CastCredit.vnodes"),
                          .received = in.received(),
                          .limit = in.limit(),
                          .again = {}};
  if (in.again() != 0) out.again = in.again() - 1;
  if (in.until() != 0) out.until = in.until();
  return out;
}

void write(const runtime::BroadcastDelivery& in, pb::BroadcastDelivery& out, Sink& sink) {
  const auto& [to, piece] = in;
  write_set(to, out.mutable_to());
  write(piece, *out.mutable_piece(), sink);
}

runtime::BroadcastDelivery read(const pb::BroadcastDelivery& in, Source& source) {
  return {.to = read_vnodes(in.to(), source, "BroadcastDelivery.to"),
          .piece = read(in.piece(), source)};
}

namespace {

void add(const runtime::PointToPoint& in, pb::Delivery& out, Sink& sink) {
  write(in, *out.mutable_point_to_point(), sink);
}
void add(const runtime::BroadcastDelivery& in, pb::Delivery& out, Sink& sink) {
  write(in, *out.mutable_broadcast(), sink);
}
void add(const collectives::ReductionToken& in, pb::Delivery& out, Sink& sink) {
  write(in, *out.mutable_reduction(), sink);
}
void add(const runtime::FlowCredit& in, pb::Delivery& out, Sink& /*sink*/) {
  write(in, *out.mutable_flow_credit());
}
void add(const runtime::FlowQuestion& in, pb::Delivery& out, Sink& /*sink*/) {
  write(in, *out.mutable_flow_question());
}
void add(const runtime::CastCredit& in, pb::Delivery& out, Sink& /*sink*/) {
  write(in, *out.mutable_cast_credit());
}

}  // namespace

void write(const runtime::Delivery& in, pb::Delivery& out, Sink& sink) {
  std::visit([&](const auto& delivery) { add(delivery, out, sink); }, in);
}

runtime::Delivery read(const pb::Delivery& in, Source& source) {
  static_assert(std::variant_size_v<runtime::Delivery> == 6, "a new one needs a case here");
  switch (in.delivery_case()) {
    case pb::Delivery::kPointToPoint:
      return read(in.point_to_point(), source);
    case pb::Delivery::kBroadcast:
      return read(in.broadcast(), source);
    case pb::Delivery::kReduction:
      return read(in.reduction(), source);
    case pb::Delivery::kFlowCredit:
      return read(in.flow_credit(), source);
    case pb::Delivery::kFlowQuestion:
      return read(in.flow_question(), source);
    case pb::Delivery::kCastCredit:
      return read(in.cast_credit(), source);
    case pb::Delivery::DELIVERY_NOT_SET:
      break;
  }
  source.fail("Delivery: unknown kind");
  return {};
}

}  // namespace phx::wire
