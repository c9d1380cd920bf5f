#include <type_traits>

#include "runtime/wire/codec_delivery.h"
#include "runtime/wire/codec_network.h"
#include "runtime/wire/codec_tops.h"

namespace phx::wire {
namespace {

// One per alternative of ToDaemon, in its order.

void add(const runtime::AppAttach& in, pb::ToDaemon& out, Sink& /*sink*/) {
  const auto& [job, vnodes, process] = in;
  pb::AppAttach& attach = *out.mutable_attach();
  attach.set_job(job.value);
  attach.set_vnodes(vnodes);
  attach.set_process(process);
}
void add(const runtime::AppSend& in, pb::ToDaemon& out, Sink& sink) {
  const auto& [message] = in;
  write(message, *out.mutable_send()->mutable_message(), sink);
}
void add(const runtime::AppFlow& in, pb::ToDaemon& out, Sink& /*sink*/) {
  pb::AppFlow& flow = *out.mutable_flow();
  if (const auto* credit = std::get_if<runtime::FlowCredit>(&in.message)) {
    write(*credit, *flow.mutable_credit());
  } else if (const auto* question = std::get_if<runtime::FlowQuestion>(&in.message)) {
    write(*question, *flow.mutable_question());
  } else {
    write(std::get<runtime::CastCredit>(in.message), *flow.mutable_cast_credit());
  }
}
void add(const runtime::AppClosing& /*in*/, pb::ToDaemon& out, Sink& /*sink*/) {
  static_assert(std::is_empty_v<runtime::AppClosing>);
  out.mutable_closing();
}
void add(const runtime::AppBroadcast& in, pb::ToDaemon& out, Sink& sink) {
  const auto& [piece, to, is_direct] = in;
  pb::AppBroadcast& broadcast = *out.mutable_broadcast();
  write(piece, *broadcast.mutable_piece(), sink);
  write_set(to, broadcast.mutable_to());
  broadcast.set_is_direct(is_direct);
}
void add(const runtime::AppContribute& in, pb::ToDaemon& out, Sink& sink) {
  const auto& [token] = in;
  write(token, *out.mutable_contribute()->mutable_token(), sink);
}
void add(const runtime::AppReleased& in, pb::ToDaemon& out, Sink& sink) {
  const auto& [received, vnodes] = in;
  pb::AppReleased& released = *out.mutable_released();
  released.set_received(received);
  for (const auto& entry : vnodes) {
    pb::AppReleased::One& one = *released.add_vnodes();
    one.set_vnode(entry.first.value);
    write(entry.second, *one.mutable_bundle(), sink);
  }
}
void add(const runtime::AppAck& in, pb::ToDaemon& out, Sink& /*sink*/) {
  const auto& [received] = in;
  out.mutable_ack()->set_received(received);
}
void add(const runtime::AppAssume& in, pb::ToDaemon& out, Sink& /*sink*/) {
  const auto& [vnodes] = in;
  write_set(vnodes, out.mutable_assume()->mutable_vnodes());
}
void add(const runtime::AppFinish& in, pb::ToDaemon& out, Sink& /*sink*/) {
  const auto& [abort, code, reason] = in;
  pb::AppFinish& finish = *out.mutable_finish();
  finish.set_abort(abort);
  finish.set_code(code);
  write_text(reason, finish.mutable_reason());
}
void add(const runtime::AppWaiting& in, pb::ToDaemon& out, Sink& /*sink*/) {
  const auto& [what, at, waited_us] = in;
  write_text(what, out.mutable_waiting()->mutable_what());
  if (at) out.mutable_waiting()->set_at(at->value);
  out.mutable_waiting()->set_waited_us(waited_us);
}
void add(const runtime::AppWaited& in, pb::ToDaemon& out, Sink& /*sink*/) {
  const auto& [vnodes, others_us] = in;
  for (const auto& [vnode, us] : vnodes) {
    pb::AppWaited::One& one = *out.mutable_waited()->add_vnodes();
    one.set_vnode(vnode.value);
    one.set_us(us);
  }
  out.mutable_waited()->set_others_us(others_us);
}
void add(const runtime::AppReport& in, pb::ToDaemon& out, Sink& sink) {
  const auto& [lines] = in;
  out.mutable_report()->set_lines_size(sink.payload(lines));
}
void add(const runtime::AppKeeps& in, pb::ToDaemon& out, Sink& /*sink*/) {
  const auto& [vnodes] = in;
  pb::AppKeeps& keeps = *out.mutable_keeps();
  for (const auto& [vnode, bytes] : vnodes) {
    pb::AppKeeps::One& one = *keeps.add_vnodes();
    one.set_vnode(vnode.value);
    one.set_bytes(bytes);
  }
}
void add(const runtime::AppNetworkQuestion& /*in*/, pb::ToDaemon& out, Sink& /*sink*/) {
  static_assert(std::is_empty_v<runtime::AppNetworkQuestion>);
  out.mutable_network_question();
}

// One per alternative of ToApplication, in its order.

void add(const runtime::AppAttached& in, pb::ToApplication& out, Sink& /*sink*/) {
  const auto& [job, processor, vnodes, refusal, line, cast_cut] = in;
  pb::AppAttached& attached = *out.mutable_attached();
  attached.set_job(job.value);
  attached.set_processor(processor.value);
  attached.set_vnodes(vnodes);
  write_text(refusal, attached.mutable_refusal());
  attached.set_line(line);
  attached.set_cast_piece(cast_cut.least);
  attached.set_cast_cost(cast_cut.cost);
}
void add(const runtime::AppGrant& in, pb::ToApplication& out, Sink& sink) {
  const auto& [parcels] = in;
  write_list(parcels, out.mutable_grant()->mutable_parcels(), sink);
}
void add(const runtime::AppDeliver& in, pb::ToApplication& out, Sink& sink) {
  const auto& [seq, delivery] = in;
  out.mutable_deliver()->set_seq(seq);
  write(delivery, *out.mutable_deliver()->mutable_delivery(), sink);
}
void add(const runtime::AppRelease& in, pb::ToApplication& out, Sink& /*sink*/) {
  const auto& [vnodes] = in;
  write_set(vnodes, out.mutable_release()->mutable_vnodes());
}
void add(const runtime::AppRefused& in, pb::ToApplication& out, Sink& /*sink*/) {
  const auto& [vnodes, why] = in;
  write_set(vnodes, out.mutable_refused()->mutable_vnodes());
  write_text(why, out.mutable_refused()->mutable_why());
}
void add(const runtime::AppRetire& /*in*/, pb::ToApplication& out, Sink& /*sink*/) {
  static_assert(std::is_empty_v<runtime::AppRetire>);
  out.mutable_retire();
}
void add(const runtime::AppRedrawn& /*in*/, pb::ToApplication& out, Sink& /*sink*/) {
  static_assert(std::is_empty_v<runtime::AppRedrawn>);
  out.mutable_redrawn();
}
void add(const runtime::AppPlace& in, pb::ToApplication& out, Sink& /*sink*/) {
  const auto& [is_one_machine] = in;
  out.mutable_place()->set_is_one_machine(is_one_machine);
}
void add(const runtime::AppRepair& in, pb::ToApplication& out, Sink& /*sink*/) {
  const auto& [line] = in;
  out.mutable_repair()->set_line(line);
}
void add(const runtime::AppEnd& in, pb::ToApplication& out, Sink& /*sink*/) {
  const auto& [code, reason] = in;
  out.mutable_end()->set_code(code);
  write_text(reason, out.mutable_end()->mutable_reason());
}
void add(const runtime::AppNetwork& in, pb::ToApplication& out, Sink& /*sink*/) {
  const auto& [known] = in;
  write(known, *out.mutable_network()->mutable_known());
}

runtime::AppReleased read_released(const pb::AppReleased& in, Source& source) {
  runtime::AppReleased out{.received = in.received(), .vnodes = {}};
  if (!source.require_short(in.vnodes(), "AppReleased.vnodes")) return out;
  for (const pb::AppReleased::One& one : in.vnodes()) {
    if (!source.ok()) break;
    const VnodeId vnode = source.vnode(one.vnode(), "AppReleased.vnodes");
    out.vnodes.emplace_back(vnode, read(vnode, one.bundle(), source));
  }
  return out;
}

runtime::AppFlow read_flow(const pb::AppFlow& in, Source& source) {
  switch (in.message_case()) {
    case pb::AppFlow::kCredit:
      return {read(in.credit(), source)};
    case pb::AppFlow::kQuestion:
      return {read(in.question(), source)};
    case pb::AppFlow::kCastCredit:
      return {read(in.cast_credit(), source)};
    case pb::AppFlow::MESSAGE_NOT_SET:
      break;
  }
  source.fail("AppFlow: unknown kind");
  return {};
}

runtime::AppAttach read_attach(const pb::AppAttach& in, Source& source) {
  source.require(in.vnodes() <= kVnodeIdEnd, "AppAttach.vnodes");
  return {.job = JobId{in.job()}, .vnodes = in.vnodes(), .process = in.process()};
}

runtime::AppWaiting read_waiting(const pb::AppWaiting& in, Source& source) {
  runtime::AppWaiting out{source.text(in.what(), "AppWaiting.what"), {}, in.waited_us()};
  if (in.has_at()) out.at = source.vnode(in.at(), "AppWaiting.at");
  return out;
}

runtime::AppWaited read_waited(const pb::AppWaited& in, Source& source) {
  runtime::AppWaited out;
  if (!source.require_short(in.vnodes(), "AppWaited.vnodes")) return out;
  for (const pb::AppWaited::One& one : in.vnodes()) {
    out.vnodes.push_back({source.vnode(one.vnode(), "AppWaited.vnode"), one.us()});
  }
  out.others_us = in.others_us();
  return out;
}

runtime::AppKeeps read_keeps(const pb::AppKeeps& in, Source& source) {
  runtime::AppKeeps out;
  if (!source.require_short(in.vnodes(), "AppKeeps.vnodes")) return out;
  for (const pb::AppKeeps::One& one : in.vnodes()) {
    out.vnodes.push_back({source.vnode(one.vnode(), "AppKeeps.vnode"), one.bytes()});
  }
  return out;
}

runtime::AppAttached read_attached(const pb::AppAttached& in, Source& source) {
  source.require(in.vnodes() <= kVnodeIdEnd, "AppAttached.vnodes");
  return {.job = JobId{in.job()},
          .processor = ProcessorId{in.processor()},
          .vnodes = in.vnodes(),
          .refusal = source.text(in.refusal(), "AppAttached.refusal"),
          .line = in.line(),
          .cast_cut = {in.cast_piece(), in.cast_cost()}};
}

}  // namespace

void write_top(const runtime::ToDaemon& in, pb::ToDaemon& out, Sink& sink) {
  std::visit([&](const auto& message) { add(message, out, sink); }, in);
}

void write_top(const runtime::ToApplication& in, pb::ToApplication& out, Sink& sink) {
  std::visit([&](const auto& message) { add(message, out, sink); }, in);
}

runtime::ToDaemon read_top(const pb::ToDaemon& in, Source& source) {
  static_assert(std::variant_size_v<runtime::ToDaemon::Variant> == 15,
                "a new one needs a case here");
  switch (in.message_case()) {
    case pb::ToDaemon::kSend:
      return runtime::AppSend{read(in.send().message(), source)};
    case pb::ToDaemon::kFlow:
      return read_flow(in.flow(), source);
    case pb::ToDaemon::kClosing:
      return runtime::AppClosing{};
    case pb::ToDaemon::kBroadcast:
      return runtime::AppBroadcast{read(in.broadcast().piece(), source),
                                   read_vnodes(in.broadcast().to(), source, "AppBroadcast.to"),
                                   in.broadcast().is_direct()};
    case pb::ToDaemon::kContribute:
      return runtime::AppContribute{read(in.contribute().token(), source)};
    case pb::ToDaemon::kAck:
      return runtime::AppAck{in.ack().received()};
    case pb::ToDaemon::kAttach:
      return read_attach(in.attach(), source);
    case pb::ToDaemon::kReleased:
      return read_released(in.released(), source);
    case pb::ToDaemon::kAssume:
      return runtime::AppAssume{read_vnodes(in.assume().vnodes(), source, "AppAssume.vnodes")};
    case pb::ToDaemon::kFinish:
      return runtime::AppFinish{in.finish().abort(), in.finish().code(),
                                source.text(in.finish().reason(), "AppFinish.reason")};
    case pb::ToDaemon::kWaiting:
      return read_waiting(in.waiting(), source);
    case pb::ToDaemon::kWaited:
      return read_waited(in.waited(), source);
    case pb::ToDaemon::kKeeps:
      return read_keeps(in.keeps(), source);
    case pb::ToDaemon::kReport:
      return runtime::AppReport{source.payload(in.report().lines_size(), "AppReport.lines")};
    case pb::ToDaemon::kNetworkQuestion:
      return runtime::AppNetworkQuestion{};
    case pb::ToDaemon::MESSAGE_NOT_SET:
      break;
  }
  source.fail("ToDaemon: unknown kind");
  return {};
}

runtime::ToApplication read_top(const pb::ToApplication& in, Source& source) {
  static_assert(std::variant_size_v<runtime::ToApplication::Variant> == 11,
                "a new one needs a case here");
  switch (in.message_case()) {
    case pb::ToApplication::kDeliver:
      return runtime::AppDeliver{in.deliver().seq(), read(in.deliver().delivery(), source)};
    case pb::ToApplication::kGrant:
      return runtime::AppGrant{read_list(in.grant().parcels(), source, "AppGrant.parcels")};
    case pb::ToApplication::kRelease:
      return runtime::AppRelease{read_vnodes(in.release().vnodes(), source, "AppRelease.vnodes")};
    case pb::ToApplication::kRepair:
      return runtime::AppRepair{in.repair().line()};
    case pb::ToApplication::kAttached:
      return read_attached(in.attached(), source);
    case pb::ToApplication::kRefused:
      return runtime::AppRefused{read_vnodes(in.refused().vnodes(), source, "AppRefused.vnodes"),
                                 source.text(in.refused().why(), "AppRefused.why")};
    case pb::ToApplication::kRetire:
      return runtime::AppRetire{};
    case pb::ToApplication::kEnd:
      return runtime::AppEnd{in.end().code(), source.text(in.end().reason(), "AppEnd.reason")};
    case pb::ToApplication::kRedrawn:
      return runtime::AppRedrawn{};
    case pb::ToApplication::kPlace:
      return runtime::AppPlace{in.place().is_one_machine()};
    case pb::ToApplication::kNetwork:
      return runtime::AppNetwork{read(in.network().known(), source)};
    case pb::ToApplication::MESSAGE_NOT_SET:
      break;
  }
  source.fail("ToApplication: unknown kind");
  return {};
}

}  // namespace phx::wire
