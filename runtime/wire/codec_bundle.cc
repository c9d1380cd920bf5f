#include "runtime/messages/parcels.h"
#include "runtime/wire/codec_delivery.h"

// What goes with a vnode.
namespace phx::wire {

// Whatever may move fits into one frame, and its lists are taken.
static_assert(runtime::kVnodeBytesMax <= kLocalPayloadMax);
static_assert(runtime::kVnodeHeaderMax <= Limits{}.header_max);
static_assert(runtime::kVnodeEntriesMax <= kListMax);

void write(const runtime::Message& in, pb::MailboxMessage& out, Sink& sink) {
  const auto& [kind, from, number, tag, payload] = in;
  out.set_kind(static_cast<pb::MessageKind>(kind));
  out.set_from(from.value);
  out.set_number(number);
  out.set_tag(tag);
  out.set_payload_size(sink.payload(payload));
}

runtime::Message read(const pb::MailboxMessage& in, Source& source) {
  return {.kind = source.choice(in.kind(), runtime::Message::Kind::kAllreduced, "Message.kind"),
          .from = source.vnode(in.from(), "Message.from"),
          .number = in.number(),
          .tag = in.tag(),
          .payload = source.payload(in.payload_size(), "Message.payload")};
}

namespace {

using Inbound = runtime::VnodeBundle::Inbound;
using Outbound = runtime::VnodeBundle::Outbound;
using Streams = runtime::StreamTable<Inbound>;
using Flows = runtime::StreamTable<Outbound>;
using Resting = Streams::Resting;
using StreamPieces = Entries<pb::VnodeBundle::Pieces>;

void write_resting(const Resting& resting, Numbers64* out) {
  std::uint64_t free = 0;  // the smallest id that may follow
  for (const Resting::Run& run : resting.runs()) {
    const auto& [next, offset, limit, window] = run.value;
    for (const std::uint64_t number :
         {run.first.value - free, run.last.value - run.first.value, next, offset, limit, window}) {
      out->Add(number);
    }
    free = run.last.value + 1;
  }
}

Resting read_resting(const Numbers64& in, Source& source, const char* field) {
  constexpr int kPerRun = 6;
  Resting resting;
  source.require(
      in.size() % kPerRun == 0 && static_cast<std::size_t>(in.size()) / kPerRun <= kListMax, field);
  std::uint64_t free = 0;
  for (int i = 0; source.ok() && i < in.size(); i += kPerRun) {
    const std::uint64_t gap = in.Get(i);
    const std::uint64_t more = in.Get(i + 1);
    source.require(gap < kVnodeIdEnd && more < kVnodeIdEnd && free + gap + more < kVnodeIdEnd,
                   field);
    if (!source.ok()) break;
    const VnodeId first{free + gap};
    const VnodeId last{first.value + more};
    resting.put({first, last, {in.Get(i + 2), in.Get(i + 3), in.Get(i + 4), in.Get(i + 5)}});
    free = last.value + 1;
  }
  return resting;
}

void write_streams(const Streams& streams, Numbers64* counters, StreamPieces* pieces,
                   Numbers64* resting, Sink& sink) {
  write_resting(streams.resting(), resting);
  write_counters(streams.active(), counters, [](const Inbound& inbound) { return inbound.next; });
  for (const auto& entry : streams.active()) {
    const auto& [next, begun, early, offset, limit, window, asked] = entry.second;
    const bool is_plain = offset == 0 && limit == 0 && window == 0 && asked == 0;
    if (is_plain && begun.empty() && early.empty()) continue;
    pb::VnodeBundle::Pieces& out = *pieces->Add();
    out.set_from(entry.first.value);
    for (const Payload& payload : begun) out.add_begun_sizes(sink.payload(payload));
    for (const auto& piece : early) {
      pb::VnodeBundle::Early& written = *out.add_early();
      written.set_number(piece.first);
      write(piece.second, *written.mutable_delivery(), sink);
    }
    out.set_offset(offset);
    out.set_limit(limit);
    out.set_window(window);
    out.set_asked(asked);
  }
}

/// Whether `early` is piece `number` of the stream that comes from `from`.
using IsPiece = bool (*)(const runtime::Delivery& early, VnodeId from, std::uint64_t number);

bool is_message_piece(const runtime::Delivery& early, VnodeId from, std::uint64_t number) {
  const auto* piece = std::get_if<runtime::PointToPoint>(&early);
  return piece != nullptr && piece->from == from && piece->seq == number;
}

bool is_broadcast_piece(const runtime::Delivery& early, VnodeId from, std::uint64_t number) {
  const auto* delivery = std::get_if<runtime::BroadcastDelivery>(&early);
  return delivery != nullptr && delivery->piece.root == from && delivery->piece.number == number;
}

/// Refuses what no honest peer sends: its endpoint would work on with it.
void read_pieces(const pb::VnodeBundle::Pieces& in, IsPiece is_piece, Inbound& stream,
                 Source& source) {
  source.require(static_cast<std::size_t>(in.begun_sizes_size()) <= kListMax, "Inbound.begun");
  if (!source.ok()) return;
  stream.begun.reserve(static_cast<std::size_t>(in.begun_sizes_size()));
  for (const std::uint64_t size : in.begun_sizes()) {
    stream.begun.push_back(source.payload(size, "Inbound.begun"));
  }
  source.require(static_cast<std::size_t>(in.early_size()) <= kListMax, "Inbound.early");
  std::uint64_t last = stream.next;  // the piece with this number would not be early
  for (const pb::VnodeBundle::Early& early : in.early()) {
    runtime::Delivery delivery = read(early.delivery(), source);
    source.require(early.number() > last, "Inbound.early.number");
    source.require(is_piece(delivery, VnodeId{in.from()}, early.number()), "Inbound.early");
    if (!source.ok()) return;
    last = early.number();
    stream.early.emplace_hint(stream.early.end(), last, std::move(delivery));
  }
  stream.offset = in.offset();
  stream.limit = in.limit();
  stream.window = in.window();
  stream.asked = in.asked();
}

Streams::Active read_streams(const Numbers64& counters, const StreamPieces& pieces,
                             IsPiece is_piece, Source& source, const char* field) {
  Streams::Active streams;
  for (const auto& counter : read_counters(counters, source, field)) {
    streams.emplace_hint(streams.end(), counter.first, Inbound{})->second.next = counter.second;
  }
  auto searched = streams.begin();  // entries come in ascending order, each at most once
  for (const pb::VnodeBundle::Pieces& in : pieces) {
    while (searched != streams.end() && searched->first.value < in.from()) ++searched;
    source.require(searched != streams.end() && searched->first.value == in.from(), field);
    if (!source.ok()) break;
    read_pieces(in, is_piece, searched->second, source);
    ++searched;
  }
  return streams;
}

std::uint64_t same_number(std::uint64_t number) {
  return number;
}

void write_flows(const Flows::Active& flows, Entries<pb::VnodeBundle::Outbound>* entries,
                 Sink& sink) {
  for (const auto& entry : flows) {
    const auto& [next, received, emitted, offset, limit, kept] = entry.second;
    pb::VnodeBundle::Outbound& out = *entries->Add();
    out.set_to(entry.first.value);
    out.set_next(next);
    out.set_received(received);
    out.set_emitted(emitted);
    out.set_offset(offset);
    out.set_limit(limit);
    for (const runtime::PointToPoint& piece : kept) {
      pb::VnodeBundle::Outbound::Piece& written = *out.add_kept();
      written.set_tag(piece.tag);
      written.set_rest(piece.rest);
      written.set_payload_size(sink.payload(piece.payload));
    }
  }
}

Outbound read_flow(VnodeId from, const pb::VnodeBundle::Outbound& in, Source& source) {
  Outbound out{.next = in.next(),
               .received = in.received(),
               .emitted = in.emitted(),
               .offset = in.offset(),
               .limit = in.limit(),
               .kept = {}};
  const auto count = static_cast<std::uint64_t>(in.kept_size());
  source.require(count <= kListMax, "Outbound.kept");
  const bool is_closed = out.received == runtime::kFlowClosed;
  source.require(is_closed ? count == 0 : out.next - out.received == count, "Outbound.next");
  source.require(is_closed || (out.received <= out.emitted && out.emitted <= out.next),
                 "Outbound.emitted");
  const VnodeId to = source.vnode(in.to(), "Outbound.to");
  if (!source.ok()) return out;
  std::uint64_t seq = out.received;
  for (const pb::VnodeBundle::Outbound::Piece& piece : in.kept()) {
    out.kept.push_back({.from = from,
                        .to = to,
                        .seq = seq++,
                        .tag = piece.tag(),
                        .rest = piece.rest(),
                        .payload = source.payload(piece.payload_size(), "Outbound.kept")});
  }
  return out;
}

Flows::Active read_flows(VnodeId from, const Entries<pb::VnodeBundle::Outbound>& entries,
                         Source& source) {
  Flows::Active flows;
  source.require(static_cast<std::size_t>(entries.size()) <= kListMax, "VnodeBundle.to_vnodes");
  for (const pb::VnodeBundle::Outbound& in : entries) {
    source.require(flows.empty() || flows.rbegin()->first.value < in.to(), "VnodeBundle.to_vnodes");
    if (!source.ok()) break;
    flows.emplace_hint(flows.end(), VnodeId{in.to()}, read_flow(from, in, source));
  }
  return flows;
}

using Casting = runtime::VnodeBundle::Casting;

void write_casting(const Casting& in, pb::VnodeBundle::Casting& out, Sink& sink) {
  const auto& [next, sent, offset, kept, receivers] = in;
  out.set_next(next);
  out.set_sent(sent);
  out.set_offset(offset);
  for (const collectives::BroadcastPiece& piece : kept) {
    pb::VnodeBundle::Casting::Piece& written = *out.add_kept();
    written.set_tag(piece.tag);
    written.set_purpose(static_cast<pb::Purpose>(piece.purpose));
    written.set_rest_bits(piece.rest_bits);
    written.set_payload_size(sink.payload(piece.payload));
    written.set_size(piece.size);
  }
  for (const Casting::Receivers& group : receivers) {
    const auto& [first, last, received, limit, position] = group;
    pb::VnodeBundle::Casting::Receivers& written = *out.add_receivers();
    written.set_first(first.value);
    written.set_last(last.value);
    written.set_received(received);
    written.set_limit(limit);
    written.set_position(position ? *position + 1 : 0);
  }
}

Casting::Receivers read_receivers(const pb::VnodeBundle::Casting::Receivers& in, Source& source) {
  Casting::Receivers out{.first = source.vnode(in.first(), "Casting.receivers.first"),
                         .last = source.vnode(in.last(), "Casting.receivers.last"),
                         .received = in.received(),
                         .limit = in.limit(),
                         .position = {}};
  source.require(out.first <= out.last, "Casting.receivers");
  if (in.position() != 0) out.position = in.position() - 1;
  return out;
}

/// Refuses what no honest peer sends: its endpoint would work on with it.
Casting read_casting(VnodeId root, const pb::VnodeBundle::Casting& in, Source& source) {
  Casting out;
  out.next = in.next();
  out.sent = in.sent();
  out.offset = in.offset();
  const auto count = static_cast<std::uint64_t>(in.kept_size());
  source.require(count <= kListMax && count <= out.next, "Casting.kept");
  source.require(static_cast<std::size_t>(in.receivers_size()) <= kListMax, "Casting.receivers");
  const std::uint64_t first = out.next - count;
  source.require(first <= out.sent && out.sent <= out.next, "Casting.sent");
  std::uint64_t number = first;
  for (const pb::VnodeBundle::Casting::Piece& piece : in.kept()) {
    if (!source.ok()) return out;
    out.kept.push_back({.root = root,
                        .number = number++,
                        .tag = piece.tag(),
                        .purpose = source.choice(piece.purpose(), collectives::Purpose::kReduced,
                                                 "Casting.purpose"),
                        .rest_bits = read_rest_bits(piece.rest_bits(), source),
                        .payload = source.payload(piece.payload_size(), "Casting.kept"),
                        .size = read_size(piece.size(), source)});
  }
  for (const pb::VnodeBundle::Casting::Receivers& group : in.receivers()) {
    if (!source.ok()) return out;
    const Casting::Receivers read = read_receivers(group, source);
    const std::uint64_t position = read.position.value_or(out.sent);
    const bool is_closed = read.received == runtime::kFlowClosed;
    source.require(out.receivers.empty() || out.receivers.back().last < read.first,
                   "Casting.receivers");
    source.require(is_closed || (first <= read.received && read.received <= position),
                   "Casting.received");
    source.require(position <= out.sent, "Casting.position");
    out.receivers.push_back(read);
  }
  return out;
}

using Targets = std::map<VnodeId, runtime::Contributed>;

void write_contributed(const Targets& targets, Entries<pb::VnodeBundle::Contributed>* entries,
                       Sink& sink) {
  for (const auto& entry : targets) {
    const auto& [first, emitted, line, kept] = entry.second;
    pb::VnodeBundle::Contributed& out = *entries->Add();
    out.set_to(entry.first.value);
    out.set_first(first);
    out.set_emitted(emitted);
    out.set_line(line);
    for (const auto& [kind, value, size] : kept) {
      pb::VnodeBundle::Contributed::One& written = *out.add_kept();
      write(kind, *written.mutable_kind());
      written.set_value_size(sink.payload(value));
      written.set_size(size);
    }
  }
}

runtime::Contributed read_contributed(const pb::VnodeBundle::Contributed& in, Source& source) {
  runtime::Contributed out{
      .first = in.first(), .emitted = in.emitted(), .line = in.line(), .kept = {}};
  const auto count = static_cast<std::uint64_t>(in.kept_size());
  source.require(count <= kListMax, "Contributed.kept");
  const bool is_closed = out.first == runtime::kFlowClosed;
  source.require(
      is_closed ? count == 0 : out.first <= out.emitted && out.emitted - out.first <= count,
      "Contributed.emitted");
  if (!source.ok()) return out;
  for (const pb::VnodeBundle::Contributed::One& one : in.kept()) {
    out.kept.push_back({read(one.kind(), source),
                        source.payload(one.value_size(), "Contributed.kept"),
                        read_size(one.size(), source)});
  }
  return out;
}

Targets read_targets(const Entries<pb::VnodeBundle::Contributed>& entries, Source& source) {
  Targets targets;
  source.require(static_cast<std::size_t>(entries.size()) <= kListMax, "VnodeBundle.to_targets");
  for (const pb::VnodeBundle::Contributed& in : entries) {
    const VnodeId to = source.vnode(in.to(), "Contributed.to");
    source.require(targets.empty() || targets.rbegin()->first < to, "VnodeBundle.to_targets");
    if (!source.ok()) break;
    targets.emplace_hint(targets.end(), to, read_contributed(in, source));
  }
  return targets;
}

void write_as_target(const runtime::AsTarget& in, pb::VnodeBundle& out, Sink& sink) {
  const auto& [complete, unsaid, askers, pending] = in;
  out.set_complete(complete);
  out.set_unsaid(unsaid);
  write_counters(askers, out.mutable_askers(), same_number);
  for (const auto& entry : pending) {
    const auto& [kind, parts, line, misfit] = entry.second;
    pb::VnodeBundle::Pending& written = *out.add_as_target();
    written.set_number(entry.first);
    write(kind, *written.mutable_kind());
    write_list(parts, written.mutable_parts(), sink);
    written.set_line(line);
    write_text(misfit, written.mutable_misfit());
  }
}

runtime::AsTarget read_as_target(const pb::VnodeBundle& in, Source& source) {
  runtime::AsTarget out{.complete = in.complete(),
                        .unsaid = in.unsaid(),
                        .askers = read_counters(in.askers(), source, "VnodeBundle.askers"),
                        .pending = {}};
  source.require(static_cast<std::size_t>(in.as_target_size()) <= kListMax,
                 "VnodeBundle.as_target");
  for (const pb::VnodeBundle::Pending& pending : in.as_target()) {
    source.require(out.pending.empty() || out.pending.rbegin()->first < pending.number(),
                   "VnodeBundle.as_target");
    if (!source.ok()) break;
    out.pending.emplace_hint(
        out.pending.end(), pending.number(),
        runtime::PendingReduction{read(pending.kind(), source),
                                  read_list(pending.parts(), source, "Pending.parts"),
                                  pending.line(), source.text(pending.misfit(), "Pending.misfit")});
  }
  return out;
}

}  // namespace

void write(const runtime::VnodeBundle& in, pb::VnodeBundle& out, Sink& sink) {
  const auto& [state, mailbox, to_vnodes, from_vnodes, from_roots, casting, reductions, to_targets,
               as_target, line] = in;
  out.set_has_state(state.has_value());
  if (state) out.set_state_size(sink.payload(*state));
  write_list(mailbox, out.mutable_mailbox(), sink);
  write_flows(to_vnodes.active(), out.mutable_to_vnodes(), sink);
  write_resting(to_vnodes.resting(), out.mutable_to_resting());
  write_streams(from_vnodes, out.mutable_from_vnodes(), out.mutable_vnode_pieces(),
                out.mutable_from_resting(), sink);
  write_streams(from_roots, out.mutable_from_roots(), out.mutable_root_pieces(),
                out.mutable_roots_resting(), sink);
  write_casting(casting, *out.mutable_casting(), sink);
  write_counters(reductions, out.mutable_reductions(), same_number);
  write_contributed(to_targets, out.mutable_to_targets(), sink);
  write_as_target(as_target, out, sink);
  out.set_line(line);
}

runtime::VnodeBundle read(VnodeId vnode, const pb::VnodeBundle& in, Source& source) {
  runtime::VnodeBundle out;
  source.require(in.has_state() || in.state_size() == 0, "VnodeBundle.state");
  if (in.has_state()) out.state = source.payload(in.state_size(), "VnodeBundle.state");
  out.mailbox = read_list(in.mailbox(), source, "VnodeBundle.mailbox");
  out.to_vnodes = {read_flows(vnode, in.to_vnodes(), source),
                   read_resting(in.to_resting(), source, "VnodeBundle.to_resting")};
  out.from_vnodes = {read_streams(in.from_vnodes(), in.vnode_pieces(), is_message_piece, source,
                                  "VnodeBundle.from_vnodes"),
                     read_resting(in.from_resting(), source, "VnodeBundle.from_resting")};
  out.from_roots = {read_streams(in.from_roots(), in.root_pieces(), is_broadcast_piece, source,
                                 "VnodeBundle.from_roots"),
                    read_resting(in.roots_resting(), source, "VnodeBundle.roots_resting")};
  // Each of them is looked at where the vnode arrives.
  source.require(out.from_roots.resting_partners() <= kListMax, "VnodeBundle.roots_resting");
  out.casting = read_casting(vnode, in.casting(), source);
  out.reductions = read_counters(in.reductions(), source, "VnodeBundle.reductions");
  out.to_targets = read_targets(in.to_targets(), source);
  for (const auto& [target, given] : out.to_targets) {
    const auto next = out.reductions.find(target);
    const bool is_next =
        next != out.reductions.end() && next->second == given.first + given.kept.size();
    source.require(is_next || given.first == runtime::kFlowClosed, "Contributed.first");
  }
  out.as_target = read_as_target(in, source);
  out.line = in.line();
  return out;
}

void write(const runtime::VnodeParcel& in, pb::VnodeParcel& out, Sink& sink) {
  const auto& [vnode, epoch, bundle] = in;
  out.set_vnode(vnode.value);
  out.set_epoch(epoch);
  write(bundle, *out.mutable_bundle(), sink);
}

runtime::VnodeParcel read(const pb::VnodeParcel& in, Source& source) {
  const VnodeId vnode = source.vnode(in.vnode(), "VnodeParcel.vnode");
  return {.vnode = vnode, .epoch = in.epoch(), .bundle = read(vnode, in.bundle(), source)};
}

}  // namespace phx::wire
