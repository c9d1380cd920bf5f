#include <algorithm>

#include "runtime/wire/codec_delivery.h"
#include "runtime/wire/codec_overlay.h"

namespace phx::wire {

SizeClass read_size(std::uint32_t size, Source& source) {
  source.require(size < kSizeClasses, "size");
  return static_cast<SizeClass>(size < kSizeClasses ? size : 0);
}

std::uint8_t read_rest_bits(std::uint32_t bits, Source& source) {
  constexpr std::uint32_t kMost = 64;
  source.require(bits <= kMost, "rest_bits");
  return static_cast<std::uint8_t>(std::min(bits, kMost));
}

void write(const collectives::BroadcastPiece& in, pb::BroadcastPiece& out, Sink& sink) {
  const auto& [root, number, tag, purpose, rest_bits, payload, size] = in;
  out.set_root(root.value);
  out.set_number(number);
  out.set_tag(tag);
  out.set_purpose(static_cast<pb::Purpose>(purpose));
  out.set_rest_bits(rest_bits);
  out.set_payload_size(sink.payload(payload));
  out.set_size(size);
}

collectives::BroadcastPiece read(const pb::BroadcastPiece& in, Source& source) {
  return {.root = source.vnode(in.root(), "BroadcastPiece.root"),
          .number = in.number(),
          .tag = in.tag(),
          .purpose =
              source.choice(in.purpose(), collectives::Purpose::kRepair, "BroadcastPiece.purpose"),
          .rest_bits = read_rest_bits(in.rest_bits(), source),
          .payload = source.payload(in.payload_size(), "BroadcastPiece.payload"),
          .size = read_size(in.size(), source)};
}

void write(const collectives::Tokens& in, pb::Tokens& out, Sink& /*sink*/) {
  const auto& [vnodes, epoch] = in;
  write_set(vnodes, out.mutable_vnodes());
  out.set_epoch(epoch);
}

collectives::Tokens read(const pb::Tokens& in, Source& source) {
  return {.vnodes = read_vnodes(in.vnodes(), source, "Tokens.vnodes"), .epoch = in.epoch()};
}

void write(const collectives::TreeCopy& in, pb::TreeCopy& out, Sink& sink) {
  const auto& [tree, hops_left, vnodes, piece, drawing] = in;
  write(tree, out.mutable_tree());
  out.set_hops_left(hops_left);
  out.set_drawing(drawing);
  write_set(vnodes, out.mutable_vnodes());
  write(piece, *out.mutable_piece(), sink);
}

collectives::TreeCopy read(const pb::TreeCopy& in, Source& source) {
  return {.tree = read(in.tree(), source),
          .hops_left = in.hops_left(),
          .vnodes = read_vnodes(in.vnodes(), source, "TreeCopy.vnodes"),
          .piece = read(in.piece(), source),
          .drawing = in.drawing()};
}

void write(const collectives::FallbackCopy::Onward& in, pb::FallbackCopy::Onward& out, Sink& sink) {
  const auto& [owner, tokens] = in;
  out.set_owner(owner.value);
  write_list(tokens, out.mutable_tokens(), sink);
}

collectives::FallbackCopy::Onward read(const pb::FallbackCopy::Onward& in, Source& source) {
  return {.owner = ProcessorId{in.owner()},
          .tokens = read_list(in.tokens(), source, "FallbackCopy.onward.tokens")};
}

void write(const collectives::FallbackCopy& in, pb::FallbackCopy& out, Sink& sink) {
  const auto& [mine, onward, piece] = in;
  write_list(mine, out.mutable_mine(), sink);
  write_list(onward, out.mutable_onward(), sink);
  write(piece, *out.mutable_piece(), sink);
}

collectives::FallbackCopy read(const pb::FallbackCopy& in, Source& source) {
  return {.mine = read_list(in.mine(), source, "FallbackCopy.mine"),
          .onward = read_list(in.onward(), source, "FallbackCopy.onward"),
          .piece = read(in.piece(), source)};
}

void write(const collectives::ReductionKind& in, pb::ReductionKind& out) {
  const auto& [op, type, to_all, ordered, whole_bytes] = in;
  out.set_op(static_cast<pb::ReduceOp>(op));
  out.set_type(static_cast<pb::ReduceType>(type));
  out.set_to_all(to_all);
  out.set_ordered(ordered);
  out.set_whole_bytes(whole_bytes);
}

collectives::ReductionKind read(const pb::ReductionKind& in, Source& source) {
  return {.op = source.choice(in.op(), collectives::ReduceOp::kGather, "ReductionKind.op"),
          .type = source.choice(in.type(), collectives::ReduceType::kBytes, "ReductionKind.type"),
          .to_all = in.to_all(),
          .ordered = in.ordered(),
          .whole_bytes = in.whole_bytes()};
}

void write(const collectives::ReductionPart& in, pb::ReductionPart& out, Sink& sink) {
  const auto& [covered, value] = in;
  write_set(covered, out.mutable_covered());
  out.set_value_size(sink.payload(value));
}

collectives::ReductionPart read(const pb::ReductionPart& in, Source& source) {
  return {.covered = read_vnodes(in.covered(), source, "ReductionPart.covered"),
          .value = source.payload(in.value_size(), "ReductionPart.value")};
}

void write(const collectives::ReductionToken& in, pb::ReductionToken& out, Sink& sink) {
  const auto& [id, kind, parts, complete, line, way] = in;
  out.set_target(id.target.value);
  out.set_number(id.number);
  write(kind, *out.mutable_kind());
  write_list(parts, out.mutable_parts(), sink);
  out.set_complete(complete);
  out.set_line(line);
  out.set_way(way);
}

namespace {

collectives::ReductionWay read_way(std::uint32_t way, Source& source) {
  source.require(way < collectives::kWays, "ReductionToken.way");
  return static_cast<collectives::ReductionWay>(way < collectives::kWays ? way : 0);
}

}  // namespace

collectives::ReductionToken read(const pb::ReductionToken& in, Source& source) {
  return {
      .id = {.target = source.vnode(in.target(), "ReductionToken.target"), .number = in.number()},
      .kind = read(in.kind(), source),
      .parts = read_list(in.parts(), source, "ReductionToken.parts"),
      .complete = in.complete(),
      .line = in.line(),
      .way = read_way(in.way(), source)};
}

}  // namespace phx::wire
