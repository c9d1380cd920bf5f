#include "runtime/wire/codec_vnodes.h"

#include "runtime/wire/codec_delivery.h"

namespace phx::wire {

void write(const runtime::Route& in, pb::Route& out, Sink& /*sink*/) {
  const auto& [vnodes, owner, epoch] = in;
  write_set(vnodes, out.mutable_vnodes());
  out.set_owner(owner.value);
  out.set_epoch(epoch);
}

runtime::Route read(const pb::Route& in, Source& source) {
  return {.vnodes = read_vnodes(in.vnodes(), source, "Route.vnodes"),
          .owner = ProcessorId{in.owner()},
          .epoch = in.epoch()};
}

void write(const runtime::Routes& in, pb::Routes& out, Sink& sink) {
  const auto& [job, routes, pass_on] = in;
  out.set_job(job.value);
  write_list(routes, out.mutable_routes(), sink);
  out.set_pass_on(pass_on);
}

runtime::Routes read(const pb::Routes& in, Source& source) {
  return {.job = JobId{in.job()},
          .routes = read_list(in.routes(), source, "Routes.routes"),
          .pass_on = in.pass_on()};
}

void write(const runtime::Pull& in, pb::Pull& out, Sink& /*sink*/) {
  const auto& [job, count, exactly] = in;
  out.set_job(job.value);
  out.set_count(count);
  write_set(exactly, out.mutable_exactly());
}

runtime::Pull read(const pb::Pull& in, Source& source) {
  return {.job = JobId{in.job()},
          .count = in.count(),
          .exactly = read_vnodes(in.exactly(), source, "Pull.exactly")};
}

void write(const runtime::Offer& in, pb::Offer& out, Sink& sink) {
  const auto& [job, offer, vnodes] = in;
  out.set_job(job.value);
  out.set_offer(offer);
  write_list(vnodes, out.mutable_vnodes(), sink);
}

runtime::Offer read(const pb::Offer& in, Source& source) {
  return {.job = JobId{in.job()},
          .offer = in.offer(),
          .vnodes = read_list(in.vnodes(), source, "Offer.vnodes")};
}

void write(const runtime::OfferReply& in, pb::OfferReply& out, Sink& /*sink*/) {
  const auto& [job, offer, accepted, why] = in;
  out.set_job(job.value);
  out.set_offer(offer);
  out.set_accepted(accepted);
  write_text(why, out.mutable_why());
}

runtime::OfferReply read(const pb::OfferReply& in, Source& source) {
  return {.job = JobId{in.job()},
          .offer = in.offer(),
          .accepted = in.accepted(),
          .why = source.text(in.why(), "OfferReply.why")};
}

void write(const runtime::OfferCancel& in, pb::OfferCancel& out, Sink& sink) {
  const auto& [job, vnodes] = in;
  out.set_job(job.value);
  write_list(vnodes, out.mutable_vnodes(), sink);
}

runtime::OfferCancel read(const pb::OfferCancel& in, Source& source) {
  return {.job = JobId{in.job()}, .vnodes = read_list(in.vnodes(), source, "OfferCancel.vnodes")};
}

void write(const runtime::Migrate& in, pb::Migrate& out, Sink& sink) {
  const auto& [job, parcels, offer, sent] = in;
  out.set_job(job.value);
  write_list(parcels, out.mutable_parcels(), sink);
  out.set_offer(offer);
  out.set_sent(sent);
}

runtime::Migrate read(const pb::Migrate& in, Source& source) {
  runtime::Migrate out{.job = JobId{in.job()},
                       .parcels = read_list(in.parcels(), source, "Migrate.parcels"),
                       .offer = in.offer(),
                       .sent = in.sent()};
  source.require(out.offer == 0 || out.parcels.size() == 1, "Migrate.offer");
  return out;
}

void write(const runtime::StatePiece& in, pb::StatePiece& out, Sink& sink) {
  const auto& [job, offer, vnode, number, sizes, sent, bytes] = in;
  out.set_job(job.value);
  out.set_offer(offer);
  out.set_vnode(vnode.value);
  out.set_number(number);
  for (const std::uint64_t size : sizes) out.add_sizes(size);
  out.set_sent(sent);
  out.set_payload_size(sink.payload(bytes));
}

runtime::StatePiece read(const pb::StatePiece& in, Source& source) {
  runtime::StatePiece out{.job = JobId{in.job()},
                          .offer = in.offer(),
                          .vnode = source.vnode(in.vnode(), "StatePiece.vnode"),
                          .number = in.number(),
                          .sizes = {},
                          .sent = in.sent(),
                          .bytes = source.payload(in.payload_size(), "StatePiece.bytes")};
  source.require(static_cast<std::size_t>(in.sizes_size()) <= kListMax, "StatePiece.sizes");
  if (source.ok()) out.sizes.assign(in.sizes().begin(), in.sizes().end());
  return out;
}

void write(const runtime::StateTaken& in, pb::StateTaken& out, Sink& /*sink*/) {
  const auto& [job, taken, outcome, offer, vnode, why] = in;
  out.set_job(job.value);
  out.set_taken(taken);
  out.set_outcome(static_cast<pb::StateTaken_Outcome>(outcome));
  out.set_offer(offer);
  out.set_vnode(vnode.value);
  write_text(why, out.mutable_why());
}

runtime::StateTaken read(const pb::StateTaken& in, Source& source) {
  return {.job = JobId{in.job()},
          .taken = in.taken(),
          .outcome = source.choice(in.outcome(), runtime::StateTaken::Outcome::kRefused,
                                   "StateTaken.outcome"),
          .offer = in.offer(),
          .vnode = source.vnode(in.vnode(), "StateTaken.vnode"),
          .why = source.text(in.why(), "StateTaken.why")};
}

namespace {

void add(const runtime::PointToPoint& in, pb::VnodeMessage& out, Sink& sink) {
  write(in, *out.mutable_point_to_point(), sink);
}
void add(const collectives::ReductionToken& in, pb::VnodeMessage& out, Sink& sink) {
  write(in, *out.mutable_reduction(), sink);
}
void add(const runtime::FlowCredit& in, pb::VnodeMessage& out, Sink& /*sink*/) {
  write(in, *out.mutable_flow_credit());
}
void add(const runtime::FlowQuestion& in, pb::VnodeMessage& out, Sink& /*sink*/) {
  write(in, *out.mutable_flow_question());
}
void add(const runtime::CastCredit& in, pb::VnodeMessage& out, Sink& /*sink*/) {
  write(in, *out.mutable_cast_credit());
}

void add(const collectives::TreeCopy& in, pb::CollectiveMessage& out, Sink& sink) {
  write(in, *out.mutable_tree_copy(), sink);
}
void add(const collectives::FallbackCopy& in, pb::CollectiveMessage& out, Sink& sink) {
  write(in, *out.mutable_fallback_copy(), sink);
}
void add(const collectives::ReductionToken& in, pb::CollectiveMessage& out, Sink& sink) {
  write(in, *out.mutable_reduction(), sink);
}

}  // namespace

void write(const runtime::VnodeMessage& in, pb::VnodeMessage& out, Sink& sink) {
  const auto& [job, followed, delivery] = in;
  out.set_job(job.value);
  out.set_followed(followed);
  std::visit([&](const auto& kind) { add(kind, out, sink); }, delivery);
}

runtime::VnodeMessage read(const pb::VnodeMessage& in, Source& source) {
  static_assert(std::variant_size_v<decltype(runtime::VnodeMessage::delivery)> == 5,
                "a new one needs a case here");
  const JobId job{in.job()};
  switch (in.delivery_case()) {
    case pb::VnodeMessage::kPointToPoint:
      return {job, in.followed(), read(in.point_to_point(), source)};
    case pb::VnodeMessage::kReduction:
      return {job, in.followed(), read(in.reduction(), source)};
    case pb::VnodeMessage::kFlowCredit:
      return {job, in.followed(), read(in.flow_credit(), source)};
    case pb::VnodeMessage::kFlowQuestion:
      return {job, in.followed(), read(in.flow_question(), source)};
    case pb::VnodeMessage::kCastCredit:
      return {job, in.followed(), read(in.cast_credit(), source)};
    case pb::VnodeMessage::DELIVERY_NOT_SET:
      break;
  }
  source.fail("VnodeMessage: unknown kind");
  return {};
}

void write(const runtime::CollectiveMessage& in, pb::CollectiveMessage& out, Sink& sink) {
  const auto& [job, message] = in;
  out.set_job(job.value);
  std::visit([&](const auto& kind) { add(kind, out, sink); }, message);
}

runtime::CollectiveMessage read(const pb::CollectiveMessage& in, Source& source) {
  static_assert(std::variant_size_v<collectives::Message> == 3, "a new one needs a case here");
  const JobId job{in.job()};
  switch (in.message_case()) {
    case pb::CollectiveMessage::kTreeCopy:
      return {job, read(in.tree_copy(), source)};
    case pb::CollectiveMessage::kFallbackCopy:
      return {job, read(in.fallback_copy(), source)};
    case pb::CollectiveMessage::kReduction:
      return {job, read(in.reduction(), source)};
    case pb::CollectiveMessage::MESSAGE_NOT_SET:
      break;
  }
  source.fail("CollectiveMessage: unknown kind");
  return {};
}

}  // namespace phx::wire
