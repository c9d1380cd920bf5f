#include <type_traits>

#include "runtime/wire/codec_delivery.h"
#include "runtime/wire/codec_jobs.h"
#include "runtime/wire/codec_members.h"
#include "runtime/wire/codec_mst.h"
#include "runtime/wire/codec_overlay.h"
#include "runtime/wire/codec_tops.h"
#include "runtime/wire/codec_vnodes.h"

namespace phx::wire {
namespace {

// One per alternative of Envelope, in its order.

void add(const runtime::ViewChange& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_view_change(), sink);
}
void add(const runtime::Admit& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_admit(), sink);
}
void add(const runtime::Admitted& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_admitted(), sink);
}
void add(const runtime::Leave& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [step] = in;
  out.mutable_leave()->set_step(static_cast<pb::LeaveStep>(step));
}
void add(const runtime::Suspect& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_suspect(), sink);
}
void add(const runtime::ViewQuery& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [number] = in;
  out.mutable_view_query()->set_number(number);
}
void add(const runtime::ViewReport& in, pb::Frame& out, Sink& sink) {
  const auto& [view] = in;
  write(view, *out.mutable_view_report()->mutable_view(), sink);
}
void add(const runtime::ViewInstall& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_view_install(), sink);
}
void add(const runtime::Fenced& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [view, why] = in;
  out.mutable_fenced()->set_view(view);
  write_text(why, out.mutable_fenced()->mutable_why());
}
void add(const runtime::Heartbeat& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [late] = in;
  out.mutable_heartbeat()->set_late(static_cast<std::uint64_t>(late.count()));
}
void add(const runtime::LeaveRefused& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [who, why] = in;
  out.mutable_leave_refused()->set_who(who.value);
  write_text(why, out.mutable_leave_refused()->mutable_why());
}
void add(const runtime::Flush& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [answer] = in;
  out.mutable_flush()->set_answer(answer);
}
void add(const runtime::Routes& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_routes(), sink);
}
void add(const runtime::Pull& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_pull(), sink);
}
void add(const runtime::Offer& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_offer(), sink);
}
void add(const runtime::OfferReply& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_offer_reply(), sink);
}
void add(const runtime::OfferCancel& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_offer_cancel(), sink);
}
void add(const runtime::Migrate& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_migrate(), sink);
}
void add(const runtime::StatePiece& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_state_piece(), sink);
}
void add(const runtime::StateTaken& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_state_taken(), sink);
}
void add(const runtime::VnodeMessage& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_vnode_message(), sink);
}
void add(const runtime::CollectiveMessage& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_collective_message(), sink);
}
void add(const overlay::Message& in, pb::Frame& out, Sink& sink) {
  write_overlay(in, out.mutable_overlay_message(), sink);
}
void add(const runtime::SpanningMessage& in, pb::Frame& out, Sink& sink) {
  write_spanning(in.message, out.mutable_spanning_message(), sink);
}
void add(const runtime::JobRequest& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_job_request(), sink);
}
void add(const runtime::JobStart& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_job_start(), sink);
}
void add(const runtime::JobRefused& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [request, why] = in;
  out.mutable_job_refused()->set_request(request);
  write_text(why, out.mutable_job_refused()->mutable_why());
}
void add(const runtime::JobStage& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_job_stage(), sink);
}
void add(const runtime::JobEnd& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_job_end(), sink);
}
void add(const runtime::Output& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_output(), sink);
}
void add(const runtime::OutputTaken& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [job, count, again] = in;
  out.mutable_output_taken()->set_job(job.value);
  out.mutable_output_taken()->set_count(count);
  out.mutable_output_taken()->set_again(again);
}
void add(const runtime::JobHome& in, pb::Frame& out, Sink& sink) {
  write(in, *out.mutable_job_home(), sink);
}
void add(const runtime::JobSignal& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [job, signal] = in;
  out.mutable_job_signal()->set_job(job.value);
  out.mutable_job_signal()->set_signal(signal);
}
void add(const runtime::StatusQuestion& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [request, job, trees] = in;
  out.mutable_status_question()->set_request(request);
  out.mutable_status_question()->set_job(job.value);
  write(trees, *out.mutable_status_question()->mutable_trees());
}
void add(const runtime::StatusAnswer& in, pb::Frame& out, Sink& sink) {
  const auto& [request, status] = in;
  out.mutable_status_answer()->set_request(request);
  write(status, *out.mutable_status_answer()->mutable_status(), sink);
}
void add(const runtime::DrainOrder& /*in*/, pb::Frame& out, Sink& /*sink*/) {
  static_assert(std::is_empty_v<runtime::DrainOrder>);
  out.mutable_drain_order();
}
void add(const runtime::DownOrder& in, pb::Frame& out, Sink& /*sink*/) {
  const auto& [told, why] = in;
  write_set(told, out.mutable_down_order()->mutable_told());
  write_text(why, out.mutable_down_order()->mutable_why());
}

/// The second half of read_envelope(), which says which cases these are.
runtime::Envelope read_job_envelope(const pb::Frame& in, Source& source) {
  switch (in.envelope_case()) {
    case pb::Frame::kJobRequest:
      return read(in.job_request(), source);
    case pb::Frame::kJobStart:
      return read(in.job_start(), source);
    case pb::Frame::kJobRefused:
      return runtime::JobRefused{in.job_refused().request(),
                                 source.text(in.job_refused().why(), "JobRefused.why")};
    case pb::Frame::kJobStage:
      return read(in.job_stage(), source);
    case pb::Frame::kJobEnd:
      return read(in.job_end(), source);
    case pb::Frame::kOutput:
      return read(in.output(), source);
    case pb::Frame::kOutputTaken:
      return runtime::OutputTaken{JobId{in.output_taken().job()}, in.output_taken().count(),
                                  in.output_taken().again()};
    case pb::Frame::kJobHome:
      return read(in.job_home(), source);
    case pb::Frame::kJobSignal:
      return runtime::JobSignal{JobId{in.job_signal().job()}, in.job_signal().signal()};
    case pb::Frame::kStatusQuestion:
      return runtime::StatusQuestion{in.status_question().request(),
                                     JobId{in.status_question().job()},
                                     read(in.status_question().trees(), source)};
    case pb::Frame::kStatusAnswer:
      return runtime::StatusAnswer{in.status_answer().request(),
                                   read(in.status_answer().status(), source)};
    case pb::Frame::kDrainOrder:
      return runtime::DrainOrder{};
    case pb::Frame::kDownOrder:
      return runtime::DownOrder{read_processors(in.down_order().told(), source, "DownOrder.told"),
                                source.text(in.down_order().why(), "DownOrder.why")};
    default:
      break;
  }
  source.fail("Frame.envelope");
  return {};
}

/// Membership, after the frequent ones.
runtime::Envelope read_member_envelope(const pb::Frame& in, Source& source) {
  switch (in.envelope_case()) {
    case pb::Frame::kViewChange:
      return read(in.view_change(), source);
    case pb::Frame::kAdmit:
      return read(in.admit(), source);
    case pb::Frame::kAdmitted:
      return read(in.admitted(), source);
    case pb::Frame::kLeave:
      return runtime::Leave{
          source.choice(in.leave().step(), runtime::LeaveStep::kRemove, "Leave.step")};
    case pb::Frame::kSuspect:
      return read(in.suspect(), source);
    case pb::Frame::kViewQuery:
      return runtime::ViewQuery{in.view_query().number()};
    case pb::Frame::kViewReport:
      return runtime::ViewReport{read(in.view_report().view(), source)};
    case pb::Frame::kViewInstall:
      return read(in.view_install(), source);
    case pb::Frame::kFenced:
      return runtime::Fenced{in.fenced().view(), source.text(in.fenced().why(), "Fenced.why")};
    case pb::Frame::kLeaveRefused:
      return runtime::LeaveRefused{ProcessorId{in.leave_refused().who()},
                                   source.text(in.leave_refused().why(), "LeaveRefused.why")};
    case pb::Frame::kFlush:
      return runtime::Flush{in.flush().answer()};
    default:
      break;
  }
  source.fail("Frame.envelope");
  return {};
}

runtime::Heartbeat read(const pb::Heartbeat& in, Source& source) {
  const auto most = static_cast<std::uint64_t>(Duration::max().count());
  source.require(in.late() <= most, "Heartbeat.late");
  return {Duration(static_cast<Duration::rep>(std::min(in.late(), most)))};
}

std::optional<runtime::Envelope> read_envelope(const pb::Frame& in, Source& source) {
  static_assert(std::variant_size_v<runtime::Envelope::Variant> == 37, "a new one needs a case");
  switch (in.envelope_case()) {
    case pb::Frame::kVnodeMessage:
      return read(in.vnode_message(), source);
    case pb::Frame::kCollectiveMessage:
      return read(in.collective_message(), source);
    case pb::Frame::kOverlayMessage:
      return read(in.overlay_message(), source);
    case pb::Frame::kSpanningMessage:
      return runtime::SpanningMessage{read(in.spanning_message(), source)};
    case pb::Frame::kHeartbeat:
      return read(in.heartbeat(), source);
    case pb::Frame::kRoutes:
      return read(in.routes(), source);
    case pb::Frame::kPull:
      return read(in.pull(), source);
    case pb::Frame::kOffer:
      return read(in.offer(), source);
    case pb::Frame::kOfferReply:
      return read(in.offer_reply(), source);
    case pb::Frame::kOfferCancel:
      return read(in.offer_cancel(), source);
    case pb::Frame::kMigrate:
      return read(in.migrate(), source);
    case pb::Frame::kStatePiece:
      return read(in.state_piece(), source);
    case pb::Frame::kStateTaken:
      return read(in.state_taken(), source);
    case pb::Frame::kViewChange:
    case pb::Frame::kAdmit:
    case pb::Frame::kAdmitted:
    case pb::Frame::kLeave:
    case pb::Frame::kSuspect:
    case pb::Frame::kViewQuery:
    case pb::Frame::kViewReport:
    case pb::Frame::kViewInstall:
    case pb::Frame::kFenced:
    case pb::Frame::kLeaveRefused:
    case pb::Frame::kFlush:
      return read_member_envelope(in, source);
    case pb::Frame::kJobRequest:
    case pb::Frame::kJobStart:
    case pb::Frame::kJobRefused:
    case pb::Frame::kJobStage:
    case pb::Frame::kJobEnd:
    case pb::Frame::kOutput:
    case pb::Frame::kOutputTaken:
    case pb::Frame::kJobHome:
    case pb::Frame::kJobSignal:
    case pb::Frame::kStatusQuestion:
    case pb::Frame::kStatusAnswer:
    case pb::Frame::kDrainOrder:
    case pb::Frame::kDownOrder:
      return read_job_envelope(in, source);
    case pb::Frame::ENVELOPE_NOT_SET:
      break;
  }
  return std::nullopt;
}

}  // namespace

void write_top(const runtime::Frame& in, pb::Frame& out, Sink& sink) {
  const auto& [seq, received, envelope, passage] = in;
  out.set_seq(seq);
  out.set_received(received);
  if (passage) {
    const auto& [from, to, number, step] = *passage;
    pb::Passage& written = *out.mutable_passage();
    written.set_from(from.value);
    written.set_to(to.value);
    written.set_number(number);
    written.set_step(static_cast<pb::Passage_Step>(step));
  }
  if (envelope) std::visit([&](const auto& message) { add(message, out, sink); }, *envelope);
}

runtime::Frame read_top(const pb::Frame& in, Source& source) {
  runtime::Frame frame{.seq = in.seq(),
                       .received = in.received(),
                       .envelope = read_envelope(in, source),
                       .passage = std::nullopt};
  if (in.has_passage()) {
    const pb::Passage& passage = in.passage();
    frame.passage = {ProcessorId{passage.from()}, ProcessorId{passage.to()}, passage.number(),
                     source.choice(passage.step(), runtime::Passage::Step::kClose, "Passage.step")};
  }
  source.require((frame.seq != 0) == frame.envelope.has_value(), "Frame.seq");
  return frame;
}

}  // namespace phx::wire
