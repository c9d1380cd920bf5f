#include <type_traits>

#include "runtime/wire/codec_jobs.h"
#include "runtime/wire/codec_members.h"
#include "runtime/wire/codec_network.h"
#include "runtime/wire/codec_tops.h"
#include "runtime/wire/codec_vnodes.h"

namespace phx::wire {
namespace {

// One per alternative of ClientRequest, in its order.

void add(const runtime::JoinRequest& in, pb::ClientRequest& out, Sink& sink) {
  const auto& [newcomer] = in;
  write(newcomer, *out.mutable_join()->mutable_newcomer(), sink);
}
void add(const runtime::StatusRequest& in, pb::ClientRequest& out, Sink& /*sink*/) {
  const auto& [ask_all, job, trees] = in;
  out.mutable_status()->set_ask_all(ask_all);
  out.mutable_status()->set_job(job.value);
  write(trees, *out.mutable_status()->mutable_trees());
}
void add(const runtime::RunRequest& in, pb::ClientRequest& out, Sink& sink) {
  const auto& [spec, tool] = in;
  out.mutable_run()->set_tool(tool);
  write(spec, *out.mutable_run()->mutable_spec(), sink);
}
void add(const runtime::FollowRequest& in, pb::ClientRequest& out, Sink& /*sink*/) {
  const auto& [job, shown, tool, is_guest] = in;
  out.mutable_follow()->set_job(job.value);
  out.mutable_follow()->set_tool(tool);
  out.mutable_follow()->set_is_guest(is_guest);
  for (const auto& [processor, number] : shown) {
    pb::OutputShown& added = *out.mutable_follow()->add_shown();
    added.set_processor(processor.value);
    added.set_number(number);
  }
}
void add(const runtime::SignalRequest& in, pb::ClientRequest& out, Sink& /*sink*/) {
  const auto& [job, signal] = in;
  out.mutable_signal()->set_job(job.value);
  out.mutable_signal()->set_signal(signal);
}
void add(const runtime::DrainRequest& in, pb::ClientRequest& out, Sink& /*sink*/) {
  const auto& [processors] = in;
  write_ids(processors, out.mutable_drain()->mutable_processors());
}
void add(const runtime::DownRequest& /*in*/, pb::ClientRequest& out, Sink& /*sink*/) {
  static_assert(std::is_empty_v<runtime::DownRequest>);
  out.mutable_down();
}
void add(const runtime::InputRequest& in, pb::ClientRequest& out, Sink& sink) {
  const auto& [job, offset, bytes, is_end] = in;
  pb::InputRequest& input = *out.mutable_input();
  input.set_job(job.value);
  input.set_offset(offset);
  input.set_bytes_size(sink.payload(bytes));
  input.set_is_end(is_end);
}

void add(const runtime::NetworkRequest& /*in*/, pb::ClientRequest& out, Sink& /*sink*/) {
  static_assert(std::is_empty_v<runtime::NetworkRequest>);
  out.mutable_network();
}

// One per alternative of ClientReply, in its order.

void add(const runtime::JoinReply& in, pb::ClientReply& out, Sink& sink) {
  const auto& [refusal, is_final, id, view, jobs, routes, homes, over, ends, lost] = in;
  pb::JoinReply& reply = *out.mutable_join();
  write_text(refusal, reply.mutable_refusal());
  reply.set_is_final(is_final);
  reply.set_id(id.value);
  write(view, *reply.mutable_view(), sink);
  write_list(jobs, reply.mutable_jobs(), sink);
  write_list(routes, reply.mutable_routes(), sink);
  write_list(homes, reply.mutable_homes(), sink);
  write_set(over, reply.mutable_over());
  write_list(ends, reply.mutable_ends(), sink);
  write_texts(lost, reply.mutable_lost());
}
void add(const runtime::StatusReply& in, pb::ClientReply& out, Sink& sink) {
  const auto& [view, coordinator, processors, silent] = in;
  pb::StatusReply& reply = *out.mutable_status();
  write(view, *reply.mutable_view(), sink);
  reply.set_coordinator(coordinator.value);
  write_list(processors, reply.mutable_processors(), sink);
  write_ids(silent, reply.mutable_silent());
}
void add(const runtime::RunStarted& in, pb::ClientReply& out, Sink& /*sink*/) {
  const auto& [job, first] = in;
  out.mutable_started()->set_job(job.value);
  out.mutable_started()->set_first(first.value);
}
void add(const runtime::RunOutput& in, pb::ClientReply& out, Sink& sink) {
  const auto& [output] = in;
  write(output, *out.mutable_output()->mutable_output(), sink);
}
void add(const runtime::RunEnded& in, pb::ClientReply& out, Sink& sink) {
  const auto& [job, code, reason, stages] = in;
  pb::RunEnded& ended = *out.mutable_ended();
  ended.set_job(job.value);
  ended.set_code(code);
  write_text(reason, ended.mutable_reason());
  write_stages(stages, ended.mutable_stages(), sink);
}
void add(const runtime::RunMoved& in, pb::ClientReply& out, Sink& /*sink*/) {
  const auto& [job, endpoints] = in;
  out.mutable_moved()->set_job(job.value);
  write_texts(endpoints, out.mutable_moved()->mutable_endpoints());
}
void add(const runtime::DrainProgress& in, pb::ClientReply& out, Sink& /*sink*/) {
  const auto& [processors] = in;
  pb::DrainProgress& progress = *out.mutable_drain();
  for (const auto& [id, gone, vnodes_left, waiting, lost] : processors) {
    pb::DrainProgress::One& one = *progress.add_processors();
    one.set_id(id.value);
    one.set_gone(gone);
    if (vnodes_left) one.set_vnodes_left(*vnodes_left);
    write_text(waiting, one.mutable_waiting());
    write_text(lost, one.mutable_lost());
  }
}
void add(const runtime::Done& in, pb::ClientReply& out, Sink& /*sink*/) {
  const auto& [error, unconfirmed] = in;
  write_text(error, out.mutable_done()->mutable_error());
  for (const auto& [id, endpoint] : unconfirmed) {
    pb::Done::Unconfirmed& one = *out.mutable_done()->add_unconfirmed();
    one.set_id(id.value);
    write_text(endpoint, one.mutable_endpoint());
  }
}
void add(const runtime::InputTaken& in, pb::ClientReply& out, Sink& /*sink*/) {
  const auto& [job, bytes, is_closed] = in;
  pb::InputTaken& taken = *out.mutable_input();
  taken.set_job(job.value);
  taken.set_bytes(bytes);
  taken.set_is_closed(is_closed);
}

void add(const overlay::NetworkUpdate& in, pb::ClientReply& out, Sink& /*sink*/) {
  write(in, *out.mutable_network());
}

runtime::JoinReply read_join(const pb::JoinReply& in, Source& source) {
  return {.refusal = source.text(in.refusal(), "JoinReply.refusal"),
          .is_final = in.is_final(),
          .id = ProcessorId{in.id()},
          .view = read(in.view(), source),
          .jobs = read_list(in.jobs(), source, "JoinReply.jobs"),
          .routes = read_list(in.routes(), source, "JoinReply.routes"),
          .homes = read_list(in.homes(), source, "JoinReply.homes"),
          .over = read_jobs(in.over(), source, "JoinReply.over"),
          .ends = read_list(in.ends(), source, "JoinReply.ends"),
          .lost = read_texts(in.lost(), source, "JoinReply.lost")};
}

runtime::StatusReply read_status(const pb::StatusReply& in, Source& source) {
  return {.view = read(in.view(), source),
          .coordinator = ProcessorId{in.coordinator()},
          .processors = read_list(in.processors(), source, "StatusReply.processors"),
          .silent = read_ids(in.silent(), source, "StatusReply.silent")};
}

runtime::RunEnded read_ended(const pb::RunEnded& in, Source& source) {
  return {.job = JobId{in.job()},
          .code = in.code(),
          .reason = source.text(in.reason(), "RunEnded.reason"),
          .stages = read_stages(in.stages(), source, "RunEnded.stages")};
}

runtime::Done read_done(const pb::Done& in, Source& source) {
  runtime::Done done{.error = source.text(in.error(), "Done.error")};
  source.require_short(in.unconfirmed(), "Done");
  for (const pb::Done::Unconfirmed& one : in.unconfirmed()) {
    if (!source.ok()) break;
    done.unconfirmed.push_back(
        {ProcessorId{one.id()}, source.text(one.endpoint(), "Done.endpoint")});
  }
  return done;
}

runtime::DrainProgress read_progress(const pb::DrainProgress& in, Source& source) {
  runtime::DrainProgress progress;
  source.require_short(in.processors(), "DrainProgress");
  for (const pb::DrainProgress::One& one : in.processors()) {
    if (!source.ok()) break;
    std::optional<std::uint64_t> left;
    if (one.has_vnodes_left()) left = one.vnodes_left();
    progress.processors.push_back({.id = ProcessorId{one.id()},
                                   .gone = one.gone(),
                                   .vnodes_left = left,
                                   .waiting = source.text(one.waiting(), "DrainProgress.waiting"),
                                   .lost = source.text(one.lost(), "DrainProgress.lost")});
  }
  return progress;
}

runtime::FollowRequest read(const pb::FollowRequest& in, Source& source) {
  runtime::FollowRequest follow{JobId{in.job()}, {}, in.tool(), in.is_guest()};
  if (!source.require_short(in.shown(), "FollowRequest.shown")) return follow;
  auto& shown = follow.shown;
  for (const pb::OutputShown& entry : in.shown()) {
    const ProcessorId id{entry.processor()};
    source.require(shown.empty() || shown.rbegin()->first < id, "FollowRequest.shown");
    if (!source.ok()) break;
    shown.emplace_hint(shown.end(), id, entry.number());
  }
  return follow;
}

}  // namespace

void write_top(const runtime::ClientRequest& in, pb::ClientRequest& out, Sink& sink) {
  std::visit([&](const auto& request) { add(request, out, sink); }, in);
}

void write_top(const runtime::ClientReply& in, pb::ClientReply& out, Sink& sink) {
  std::visit([&](const auto& reply) { add(reply, out, sink); }, in);
}

runtime::ClientRequest read_top(const pb::ClientRequest& in, Source& source) {
  static_assert(std::variant_size_v<runtime::ClientRequest::Variant> == 9,
                "a new one needs a case here");
  switch (in.request_case()) {
    case pb::ClientRequest::kJoin:
      return runtime::JoinRequest{read(in.join().newcomer(), source)};
    case pb::ClientRequest::kStatus:
      return runtime::StatusRequest{in.status().ask_all(), JobId{in.status().job()},
                                    read(in.status().trees(), source)};
    case pb::ClientRequest::kRun:
      return runtime::RunRequest{read(in.run().spec(), source), in.run().tool()};
    case pb::ClientRequest::kFollow:
      return read(in.follow(), source);
    case pb::ClientRequest::kSignal:
      return runtime::SignalRequest{JobId{in.signal().job()}, in.signal().signal()};
    case pb::ClientRequest::kDrain:
      return runtime::DrainRequest{read_ids(in.drain().processors(), source, "DrainRequest")};
    case pb::ClientRequest::kDown:
      return runtime::DownRequest{};
    case pb::ClientRequest::kInput:
      return runtime::InputRequest{JobId{in.input().job()}, in.input().offset(),
                                   source.payload(in.input().bytes_size(), "InputRequest.bytes"),
                                   in.input().is_end()};
    case pb::ClientRequest::kNetwork:
      return runtime::NetworkRequest{};
    case pb::ClientRequest::REQUEST_NOT_SET:
      break;
  }
  source.fail("ClientRequest: unknown kind");
  return {};
}

runtime::ClientReply read_top(const pb::ClientReply& in, Source& source) {
  static_assert(std::variant_size_v<runtime::ClientReply::Variant> == 10,
                "a new one needs a case here");
  switch (in.reply_case()) {
    case pb::ClientReply::kJoin:
      return read_join(in.join(), source);
    case pb::ClientReply::kStatus:
      return read_status(in.status(), source);
    case pb::ClientReply::kStarted:
      return runtime::RunStarted{JobId{in.started().job()}, ProcessorId{in.started().first()}};
    case pb::ClientReply::kOutput:
      return runtime::RunOutput{read(in.output().output(), source)};
    case pb::ClientReply::kEnded:
      return read_ended(in.ended(), source);
    case pb::ClientReply::kMoved:
      return runtime::RunMoved{JobId{in.moved().job()},
                               read_texts(in.moved().endpoints(), source, "RunMoved.endpoints")};
    case pb::ClientReply::kDrain:
      return read_progress(in.drain(), source);
    case pb::ClientReply::kDone:
      return read_done(in.done(), source);
    case pb::ClientReply::kInput:
      return runtime::InputTaken{JobId{in.input().job()}, in.input().bytes(),
                                 in.input().is_closed()};
    case pb::ClientReply::kNetwork:
      return read(in.network(), source);
    case pb::ClientReply::REPLY_NOT_SET:
      break;
  }
  source.fail("ClientReply: unknown kind");
  return {};
}

}  // namespace phx::wire
