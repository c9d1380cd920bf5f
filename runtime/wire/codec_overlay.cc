#include "runtime/wire/codec_overlay.h"

#include "runtime/wire/codec_network.h"

namespace phx::wire {

void write(const TreeId& in, pb::TreeId* out) {
  const auto& [root, kind, number] = in;
  out->set_root(root.value);
  out->set_kind(static_cast<pb::TreeKind>(kind));
  out->set_number(number);
}

TreeId read(const pb::TreeId& in, Source& source) {
  return {.root = ProcessorId{in.root()},
          .kind = source.choice(in.kind(), TreeKind::kLearned, "TreeId.kind"),
          .number = in.number()};
}

void write(const overlay::TreeAdvert& in, pb::TreeAdvert& out, Sink& /*sink*/) {
  const auto& [tree, connected, distance, label, children, parent, mebibyte_time] = in;
  write(tree, out.mutable_tree());
  out.set_connected(connected);
  out.set_distance(duration_number(distance));
  out.mutable_label()->set_seq(label.seq);
  out.mutable_label()->set_feasible(duration_number(label.feasible));
  out.set_children(children);
  out.set_parent(parent.value);
  out.set_mebibyte_time(duration_number(mebibyte_time));
}

overlay::TreeAdvert read(const pb::TreeAdvert& in, Source& source) {
  return {.tree = read(in.tree(), source),
          .connected = in.connected(),
          .distance = source.duration(in.distance(), "TreeAdvert.distance"),
          .label = {.seq = in.label().seq(),
                    .feasible = source.duration(in.label().feasible(), "Label.feasible")},
          .children = in.children(),
          .parent = ProcessorId{in.parent()},
          .mebibyte_time = source.duration(in.mebibyte_time(), "TreeAdvert.mebibyte_time")};
}

namespace {

// One per message, in the order of overlay/messages.h.

void add(const overlay::Probe& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [seq, roots] = in;
  out.mutable_probe()->set_seq(seq);
  write_set(roots, out.mutable_probe()->mutable_roots());
}

void add(const overlay::ProbeReply& in, pb::OverlayMessage& out, Sink& sink) {
  const auto& [seq, adverts, recommended] = in;
  pb::ProbeReply& reply = *out.mutable_probe_reply();
  reply.set_seq(seq);
  write_list(adverts, reply.mutable_adverts(), sink);
  write_ids(recommended, reply.mutable_recommended());
}

void add(const overlay::TreeOpen& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [tree, nearest, distance, seq] = in;
  pb::TreeOpen& open = *out.mutable_tree_open();
  write(tree, open.mutable_tree());
  open.set_nearest(nearest.value);
  open.set_distance(duration_number(distance));
  open.set_seq(seq);
}

void add(const overlay::TreeClose& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [tree, seq] = in;
  write(tree, out.mutable_tree_close()->mutable_tree());
  out.mutable_tree_close()->set_seq(seq);
}

void add(const overlay::Attach& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [tree, attachment, children_seen, own, below, is_far] = in;
  pb::Attach& attach = *out.mutable_attach();
  write(tree, attach.mutable_tree());
  attach.set_attachment(attachment);
  attach.set_children_seen(children_seen);
  attach.mutable_own()->set_seq(own.seq);
  attach.mutable_own()->set_feasible(duration_number(own.feasible));
  write_set(below, attach.mutable_below());
  attach.set_is_far(is_far);
}

void add(const overlay::AttachReply& in, pb::OverlayMessage& out, Sink& sink) {
  const auto& [attachment, accepted, advert, redirect] = in;
  pb::AttachReply& reply = *out.mutable_attach_reply();
  reply.set_attachment(attachment);
  reply.set_accepted(accepted);
  write(advert, *reply.mutable_advert(), sink);
  write_ids(redirect, reply.mutable_redirect());
}

void add(const overlay::Detach& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [tree, attachment] = in;
  write(tree, out.mutable_detach()->mutable_tree());
  out.mutable_detach()->set_attachment(attachment);
}

void add(const overlay::Bye& in, pb::OverlayMessage& out, Sink& sink) {
  const auto& [tree, grandparent, advert] = in;
  pb::Bye& bye = *out.mutable_bye();
  write(tree, bye.mutable_tree());
  bye.set_grandparent(grandparent.value);
  write(advert, *bye.mutable_advert(), sink);
}

void add(const overlay::Update& in, pb::OverlayMessage& out, Sink& sink) {
  const auto& [advert] = in;
  write(advert, *out.mutable_update()->mutable_advert(), sink);
}

void add(const overlay::UpdateSet& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [tree, attachment, version, added, removed] = in;
  pb::UpdateSet& update = *out.mutable_update_set();
  write(tree, update.mutable_tree());
  update.set_attachment(attachment);
  update.set_version(version);
  write_set(added, update.mutable_added());
  write_set(removed, update.mutable_removed());
}

void add(const overlay::Relabel& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [tree] = in;
  write(tree, out.mutable_relabel()->mutable_tree());
}

void add(const overlay::Ping& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [number, is_answer] = in;
  out.mutable_ping()->set_number(number);
  out.mutable_ping()->set_is_answer(is_answer);
}

void add(const overlay::Fetch& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [number, bytes] = in;
  out.mutable_fetch()->set_number(number);
  out.mutable_fetch()->set_bytes(bytes);
}

void add(const overlay::Load& in, pb::OverlayMessage& out, Sink& sink) {
  const auto& [number, bytes, sent] = in;
  out.mutable_load()->set_number(number);
  out.mutable_load()->set_payload_size(sink.payload(bytes));
  out.mutable_load()->set_sent(sent);
}

void add(const overlay::SurveyTask& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [round, landmarks, spread, pings, wants_overhead, downloads] = in;
  pb::SurveyTask& task = *out.mutable_survey_task();
  task.set_round(round);
  write_ids(landmarks, task.mutable_landmarks());
  task.set_spread(duration_number(spread));
  task.set_pings(pings);
  task.set_wants_overhead(wants_overhead);
  for (const auto& [from, bytes, round_trip] : downloads) {
    pb::SurveyTask::Download& one = *task.add_downloads();
    one.set_from(from.value);
    one.set_bytes(bytes);
    one.set_round_trip(duration_number(round_trip));
  }
}

void add(const overlay::SurveyReport& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  const auto& [round, round_trips, overhead, version, rates, traffic, wait] = in;
  pb::SurveyReport& report = *out.mutable_survey_report();
  report.set_round(round);
  for (const auto& [landmark, time] : round_trips) {
    pb::SurveyReport::RoundTrip& one = *report.add_round_trips();
    one.set_landmark(landmark.value);
    one.set_time(duration_number(time));
  }
  if (overhead) report.set_overhead(duration_number(*overhead));
  report.set_traffic(traffic);
  if (wait) report.set_wait(duration_number(*wait));
  report.set_number(version.number);
  report.set_author(version.author.value);
  for (const auto& [peer, at_least, at_most, taken, sent] : rates) {
    pb::SurveyReport::Rate& one = *report.add_rates();
    one.set_from(peer.value);
    one.set_taken(taken);
    one.set_sent(sent);
    one.set_at_least(at_least);
    one.set_at_most(at_most);
  }
}

void add(const overlay::NetworkUpdate& in, pb::OverlayMessage& out, Sink& /*sink*/) {
  write(in, *out.mutable_network_update());
}

overlay::SurveyTask read_task(const pb::SurveyTask& in, Source& source) {
  overlay::SurveyTask task{in.round(),
                           read_ids(in.landmarks(), source, "SurveyTask.landmarks"),
                           source.duration(in.spread(), "SurveyTask.spread"),
                           in.pings(),
                           in.wants_overhead(),
                           {}};
  if (!source.require_short(in.downloads(), "SurveyTask.downloads")) return task;
  for (const pb::SurveyTask::Download& one : in.downloads()) {
    task.downloads.push_back({ProcessorId{one.from()}, one.bytes(),
                              source.duration(one.round_trip(), "Download.round_trip")});
  }
  return task;
}

overlay::SurveyReport read_report(const pb::SurveyReport& in, Source& source) {
  overlay::SurveyReport report{
      in.round(), {}, std::nullopt, {in.number(), ProcessorId{in.author()}}, {}, in.traffic()};
  if (!source.require_short(in.round_trips(), "SurveyReport.round_trips") ||
      !source.require_short(in.rates(), "SurveyReport.rates")) {
    return report;
  }
  for (const pb::SurveyReport::RoundTrip& one : in.round_trips()) {
    report.round_trips.push_back(
        {ProcessorId{one.landmark()}, source.duration(one.time(), "RoundTrip.time")});
  }
  if (in.has_overhead()) {
    report.overhead = source.duration(in.overhead(), "SurveyReport.overhead");
  }
  if (in.has_wait()) report.wait = source.duration(in.wait(), "SurveyReport.wait");
  for (const pb::SurveyReport::Rate& one : in.rates()) {
    report.rates.push_back(
        {ProcessorId{one.from()}, one.at_least(), one.at_most(), one.taken(), one.sent()});
  }
  return report;
}

overlay::Attach read_attach(const pb::Attach& in, Source& source) {
  return {.tree = read(in.tree(), source),
          .attachment = in.attachment(),
          .children_seen = in.children_seen(),
          .own = {.seq = in.own().seq(),
                  .feasible = source.duration(in.own().feasible(), "Attach.own")},
          .below = read_processors(in.below(), source, "Attach.below"),
          .is_far = in.is_far()};
}

overlay::AttachReply read_attach_reply(const pb::AttachReply& in, Source& source) {
  return {.attachment = in.attachment(),
          .accepted = in.accepted(),
          .advert = read(in.advert(), source),
          .redirect = read_ids(in.redirect(), source, "AttachReply.redirect")};
}

overlay::UpdateSet read_update_set(const pb::UpdateSet& in, Source& source) {
  return {.tree = read(in.tree(), source),
          .attachment = in.attachment(),
          .version = in.version(),
          .added = read_processors(in.added(), source, "UpdateSet.added"),
          .removed = read_processors(in.removed(), source, "UpdateSet.removed")};
}

overlay::TreeOpen read_tree_open(const pb::TreeOpen& in, Source& source) {
  return {.tree = read(in.tree(), source),
          .nearest = ProcessorId{in.nearest()},
          .distance = source.duration(in.distance(), "TreeOpen.distance"),
          .seq = in.seq()};
}

}  // namespace

void write_overlay(const overlay::Message& in, pb::OverlayMessage* out, Sink& sink) {
  std::visit([&](const auto& message) { add(message, *out, sink); }, in);
}

overlay::Message read(const pb::OverlayMessage& in, Source& source) {
  static_assert(std::variant_size_v<overlay::Message::Variant> == 17,
                "a new message needs a case here");
  switch (in.message_case()) {
    case pb::OverlayMessage::kProbe:
      return overlay::Probe{.seq = in.probe().seq(),
                            .roots = read_processors(in.probe().roots(), source, "Probe.roots")};
    case pb::OverlayMessage::kProbeReply:
      return overlay::ProbeReply{
          .seq = in.probe_reply().seq(),
          .adverts = read_list(in.probe_reply().adverts(), source, "ProbeReply.adverts"),
          .recommended =
              read_ids(in.probe_reply().recommended(), source, "ProbeReply.recommended")};
    case pb::OverlayMessage::kTreeOpen:
      return read_tree_open(in.tree_open(), source);
    case pb::OverlayMessage::kTreeClose:
      return overlay::TreeClose{.tree = read(in.tree_close().tree(), source),
                                .seq = in.tree_close().seq()};
    case pb::OverlayMessage::kAttach:
      return read_attach(in.attach(), source);
    case pb::OverlayMessage::kAttachReply:
      return read_attach_reply(in.attach_reply(), source);
    case pb::OverlayMessage::kDetach:
      return overlay::Detach{.tree = read(in.detach().tree(), source),
                             .attachment = in.detach().attachment()};
    case pb::OverlayMessage::kBye:
      return overlay::Bye{.tree = read(in.bye().tree(), source),
                          .grandparent = ProcessorId{in.bye().grandparent()},
                          .advert = read(in.bye().advert(), source)};
    case pb::OverlayMessage::kUpdate:
      return overlay::Update{read(in.update().advert(), source)};
    case pb::OverlayMessage::kUpdateSet:
      return read_update_set(in.update_set(), source);
    case pb::OverlayMessage::kRelabel:
      return overlay::Relabel{read(in.relabel().tree(), source)};
    case pb::OverlayMessage::kPing:
      return overlay::Ping{in.ping().number(), in.ping().is_answer()};
    case pb::OverlayMessage::kSurveyTask:
      return read_task(in.survey_task(), source);
    case pb::OverlayMessage::kSurveyReport:
      return read_report(in.survey_report(), source);
    case pb::OverlayMessage::kNetworkUpdate:
      return read(in.network_update(), source);
    case pb::OverlayMessage::kFetch:
      return overlay::Fetch{in.fetch().number(), in.fetch().bytes()};
    case pb::OverlayMessage::kLoad:
      return overlay::Load{in.load().number(),
                           source.payload(in.load().payload_size(), "Load.payload"),
                           in.load().sent()};
    case pb::OverlayMessage::MESSAGE_NOT_SET:
      break;
  }
  source.fail("OverlayMessage: unknown kind");
  return {};
}

}  // namespace phx::wire
