#include "tests/support/random_messages.h"

#include <algorithm>
#include <limits>

namespace phx::support {

using namespace runtime;  // NOLINT(google-build-using-namespace): every line names its messages

std::uint64_t RandomMessages::number() {
  const std::uint64_t bits = rng_.below(65);
  return bits == 0 ? 0 : rng_.next() >> (64 - bits);
}

VnodeId RandomMessages::vnode() {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 24U;
  return VnodeId{flip() ? rng_.below(100) : rng_.below(kEnd)};
}

Duration RandomMessages::duration() {
  return flip() ? kForever : Duration(static_cast<Duration::rep>(number() >> 1U));
}

std::string RandomMessages::text() {
  std::string made;
  for (std::uint64_t left = rng_.below(flip() ? 4 : 40); left > 0; --left) {
    made += static_cast<char>(rng_.below(256));
  }
  return made;
}

Payload RandomMessages::payload() {
  return Payload::copy_of(text());
}

VnodeSet RandomMessages::vnodes() {
  VnodeSet made;
  for (std::size_t left = few(); left > 0; --left) {
    const VnodeId a = vnode();
    const VnodeId b = vnode();
    made.insert({std::min(a, b), std::max(a, b)});
  }
  return made;
}

ProcessorSet RandomMessages::processor_set() {
  ProcessorSet made;
  for (std::size_t left = few(); left > 0; --left) made.insert(processor());
  return made;
}

IntervalSet<JobId> RandomMessages::jobs() {
  IntervalSet<JobId> made;
  for (std::size_t left = few(); left > 0; --left) made.insert(job());
  return made;
}

TreeId RandomMessages::tree() {
  return {.root = processor(),
          .kind = choice(TreeKind::kLearned),
          .number = static_cast<std::uint32_t>(few())};
}

std::vector<std::string> RandomMessages::texts() {
  return list([this] { return text(); });
}

std::vector<ProcessorId> RandomMessages::processors() {
  return list([this] { return processor(); });
}

overlay::TreeAdvert RandomMessages::advert() {
  return {.tree = tree(),
          .connected = flip(),
          .distance = duration(),
          .label = {.seq = number(), .feasible = duration()},
          .children = number32(),
          .parent = processor(),
          .mebibyte_time = duration()};
}

overlay::KnownNetwork RandomMessages::network() {
  using overlay::KnownNetwork;
  const auto way = [this] {
    KnownNetwork::Way made;
    if (flip()) made.latency = duration();
    if (flip()) made.bytes_per_second = number();
    return made;
  };
  const auto ability = [this] {
    KnownNetwork::Ability made;
    if (flip()) made.overhead = duration();
    if (flip()) made.out_bytes_per_second = number();
    if (flip()) made.in_bytes_per_second = number();
    if (flip()) made.wait = duration();
    return made;
  };
  KnownNetwork made;
  made.sites = list([this] {
    KnownNetwork::Site site{text(), processor_set(), std::nullopt};
    if (flip()) site.latency = duration();
    return site;
  });
  for (std::size_t left = few(); left > 0; --left) made.between[{few(), few()}] = way();
  made.usual = ability();
  for (std::size_t left = few(); left > 0; --left) made.odd[processor()] = ability();
  for (std::size_t left = few(); left > 0; --left) made.pairs[{processor(), processor()}] = way();
  return made;
}

overlay::Message RandomMessages::overlay_message() {
  static_assert(std::variant_size_v<overlay::Message::Variant> == 17);
  switch (rng_.below(17)) {
    case 0:
      return overlay::Probe{number(), processor_set()};
    case 1:
      return overlay::ProbeReply{number(), list([this] { return advert(); }), processors()};
    case 2:
      return overlay::TreeOpen{tree(), processor(), duration(), number()};
    case 3:
      return overlay::TreeClose{tree(), number()};
    case 4:
      return overlay::Attach{tree(),          number(), number32(), {number(), duration()},
                             processor_set(), flip()};
    case 5:
      return overlay::AttachReply{number(), flip(), advert(), processors()};
    case 6:
      return overlay::Detach{tree(), number()};
    case 7:
      return overlay::Bye{tree(), processor(), advert()};
    case 8:
      return overlay::Update{advert()};
    case 9:
      return overlay::UpdateSet{tree(), number(), number(), processor_set(), processor_set()};
    case 10:
      return overlay::Relabel{tree()};
    case 11:
      return overlay::Ping{number(), flip()};
    case 12:
      return overlay::SurveyTask{
          number(), processors(), duration(), number32(), flip(), list([this] {
            return overlay::SurveyTask::Download{processor(), number(), duration()};
          })};
    case 13: {
      overlay::SurveyReport report{number(), {}, std::nullopt, {number(), processor()}, {}};
      report.rates = list([this] {
        return overlay::SurveyReport::Rate{processor(), number(), number(), number(), number()};
      });
      for (const ProcessorId landmark : processors()) {
        report.round_trips.push_back({landmark, duration()});
      }
      if (flip()) report.overhead = duration();
      report.traffic = number();
      if (flip()) report.wait = duration();
      return report;
    }
    case 14:
      return overlay::Fetch{number(), number()};
    case 15:
      return overlay::Load{number(), payload(), number()};
    default:
      return overlay::NetworkUpdate{{number(), processor()}, network()};
  }
}

collectives::BroadcastPiece RandomMessages::piece() {
  return {.root = vnode(),
          .number = number(),
          .tag = number32(),
          .purpose = choice(collectives::Purpose::kRepair),
          .rest_bits = static_cast<std::uint8_t>(number32() % 65),
          .payload = payload(),
          .size = size()};
}

SizeClass RandomMessages::size() {
  return static_cast<SizeClass>(number32() % kSizeClasses);
}

collectives::Tokens RandomMessages::tokens() {
  return {.vnodes = vnodes(), .epoch = number()};
}

collectives::ReductionKind RandomMessages::reduction_kind() {
  return {.op = choice(collectives::ReduceOp::kGather),
          .type = choice(collectives::ReduceType::kBytes),
          .to_all = flip(),
          .ordered = flip(),
          .whole_bytes = number()};
}

collectives::ReductionPart RandomMessages::reduction_part() {
  return {.covered = vnodes(), .value = payload()};
}

collectives::ReductionToken RandomMessages::reduction() {
  return {.id = {.target = vnode(), .number = number()},
          .kind = reduction_kind(),
          .parts = list([this] { return reduction_part(); }),
          .complete = flip(),
          .line = number(),
          .way = static_cast<collectives::ReductionWay>(rng_.below(collectives::kWays))};
}

collectives::Message RandomMessages::collective() {
  static_assert(std::variant_size_v<collectives::Message> == 3);
  const auto some_tokens = [this] { return list([this] { return tokens(); }); };
  const auto onward = [&] { return collectives::FallbackCopy::Onward{processor(), some_tokens()}; };
  switch (rng_.below(3)) {
    case 0:
      return collectives::TreeCopy{tree(), number32(), vnodes(), piece(), number32()};
    case 1:
      return collectives::FallbackCopy{some_tokens(), list(onward), piece()};
    default:
      return reduction();
  }
}

StatePiece RandomMessages::state_piece() {
  return {.job = job(),
          .offer = number(),
          .vnode = vnode(),
          .number = number(),
          .sizes = list([this] { return number(); }),
          .sent = number(),
          .bytes = payload()};
}

PointToPoint RandomMessages::point_to_point() {
  return {.from = vnode(),
          .to = vnode(),
          .seq = number(),
          .tag = number32(),
          .rest = number(),
          .payload = payload()};
}

FlowCredit RandomMessages::flow_credit() {
  FlowCredit made{vnode(), vnode(), number(), number(), {}, number()};
  if (flip()) made.again = number() >> 1U;
  return made;
}

CastCredit RandomMessages::cast_credit() {
  CastCredit made{vnode(), vnodes(), number(), number(), {}};
  if (flip()) made.until = 1 + number() / 2;
  if (flip()) made.again = number() >> 1U;
  return made;
}

Delivery RandomMessages::delivery() {
  static_assert(std::variant_size_v<Delivery> == 6);
  switch (rng_.below(6)) {
    case 0:
      return point_to_point();
    case 1:
      return BroadcastDelivery{vnodes(), piece()};
    case 2:
      return flow_credit();
    case 3:
      return flow_question();
    case 4:
      return cast_credit();
    default:
      return reduction();
  }
}

std::map<VnodeId, std::uint64_t> RandomMessages::counters() {
  std::map<VnodeId, std::uint64_t> made;
  for (std::size_t left = few(); left > 0; --left) made[vnode()] = number();
  return made;
}

RunMap<VnodeId, AtRest> RandomMessages::resting() {
  RunMap<VnodeId, AtRest> made;
  const VnodeSet partners = vnodes();
  for (const auto& range : partners.ranges()) {
    const VnodeId last{std::min(range.last.value, range.first.value + few())};
    made.put({range.first, last, {number(), number(), number(), number()}});
  }
  return made;
}

StreamTable<VnodeBundle::Inbound> RandomMessages::streams(bool are_of_broadcasts) {
  std::map<VnodeId, VnodeBundle::Inbound> made;
  for (std::size_t left = few(); left > 0; --left) {
    const VnodeId from = vnode();
    VnodeBundle::Inbound& stream = made[from];
    stream = {};
    stream.next = number();
    if (flip()) continue;
    stream.offset = number();
    stream.limit = number();
    stream.window = number();
    stream.asked = number();
    stream.begun = list([this] { return payload(); });
    for (std::size_t early = few(); early > 0; --early) {
      const std::uint64_t after = number();
      if (after <= stream.next) continue;
      BroadcastDelivery broadcast{vnodes(), piece()};
      broadcast.piece.root = from;
      broadcast.piece.number = after;
      PointToPoint message = point_to_point();
      message.from = from;
      message.seq = after;
      stream.early[after] = are_of_broadcasts ? Delivery(broadcast) : Delivery(message);
    }
  }
  return {std::move(made), resting()};
}

StreamTable<VnodeBundle::Outbound> RandomMessages::flows(VnodeId from) {
  std::map<VnodeId, VnodeBundle::Outbound> made;
  for (std::size_t left = few(); left > 0; --left) {
    const VnodeId to = vnode();
    VnodeBundle::Outbound& flow = made[to];
    flow = {};
    flow.offset = number();
    flow.limit = number();
    flow.received = flow.next = flow.emitted = number() >> 1U;
    for (std::size_t kept = few(); kept > 0; --kept) {
      PointToPoint piece = point_to_point();
      piece.from = from;
      piece.to = to;
      piece.seq = flow.next++;
      if (flip() && flow.emitted == piece.seq) ++flow.emitted;
      flow.kept.push_back(std::move(piece));
    }
    if (flow.kept.empty() && flip()) flow.received = kFlowClosed;
  }
  return {std::move(made), resting()};
}

std::map<VnodeId, Contributed> RandomMessages::contributed() {
  std::map<VnodeId, Contributed> made;
  for (std::size_t left = few(); left > 0; --left) {
    Contributed& one = made[vnode()];
    one = {};
    one.line = number();
    one.first = one.emitted = number() >> 1U;
    for (std::size_t kept = few(); kept > 0; --kept) {
      one.kept.push_back({reduction_kind(), payload(), size()});
      if (flip()) ++one.emitted;
    }
    if (one.kept.empty() && flip()) one.first = kFlowClosed;
  }
  return made;
}

VnodeBundle::Casting RandomMessages::casting(VnodeId root) {
  VnodeBundle::Casting made;
  made.next = made.sent = number() >> 1U;
  made.offset = number();
  for (std::size_t kept = few(); kept > 0; --kept) {
    collectives::BroadcastPiece kept_piece = piece();
    kept_piece.root = root;
    kept_piece.purpose = choice(collectives::Purpose::kReduced);
    kept_piece.number = made.next++;
    if (flip() && made.sent == kept_piece.number) ++made.sent;
    made.kept.push_back(std::move(kept_piece));
  }
  const VnodeSet heard = vnodes();
  for (const auto& range : heard.ranges()) {
    VnodeBundle::Casting::Receivers group{range.first, range.last, made.sent, number(), {}};
    if (flip()) group.received = made.next - made.kept.size();
    if (flip()) group.position = group.received;
    if (!group.position && flip()) group.received = kFlowClosed;
    made.receivers.push_back(group);
  }
  return made;
}

VnodeBundle RandomMessages::bundle(VnodeId vnode_of) {
  VnodeBundle made;
  if (flip()) made.state = payload();
  made.mailbox = list([this] {
    return Message{choice(Message::Kind::kAllreduced), vnode(), number(), number32(), payload()};
  });
  made.to_vnodes = flows(vnode_of);
  made.from_vnodes = streams(false);
  made.from_roots = streams(true);
  made.casting = casting(vnode_of);
  made.reductions = counters();
  made.to_targets = contributed();
  for (const auto& [target, given] : made.to_targets) {
    made.reductions[target] = given.first + given.kept.size();
  }
  made.as_target = {number(), number(), counters(), {}};
  for (std::size_t left = few(); left > 0; --left) {
    made.as_target.pending[number()] = {reduction_kind(), list([this] { return reduction_part(); }),
                                        number(), text()};
  }
  made.line = number();
  return made;
}

VnodeParcel RandomMessages::parcel() {
  const VnodeId moved = vnode();
  return {.vnode = moved, .epoch = number(), .bundle = bundle(moved)};
}

Member RandomMessages::member(ProcessorId id) {
  return {.id = id,
          .incarnation = number(),
          .endpoints = texts(),
          .name = text(),
          .leaving = flip(),
          .emptied = flip(),
          .embedded = flip()};
}

View RandomMessages::view() {
  View made{.number = number(),
            .members = {},
            .next_processor = number32(),
            .next_job = number32(),
            .line = number(),
            .relaying_since = number(),
            .origin = number()};
  for (std::size_t left = few(); left > 0; --left) {
    const ProcessorId id{number32() | 1U};  // never 0
    made.members.put(member(id));
  }
  return made;
}

ViewChange::Gone RandomMessages::gone() {
  return {.id = processor(), .why = choice(Departure::kSilent), .detail = text()};
}

Routes RandomMessages::routes() {
  return {.job = job(),
          .routes = list([this] {
            return Route{vnodes(), processor(), number()};
          }),
          .pass_on = flip()};
}

JobSpec RandomMessages::spec() {
  return {.vnodes = vnode().value,
          .command = texts(),
          .environment = texts(),
          .directory = text(),
          .name = text(),
          .processors_max = number32(),
          .balance = flip(),
          .fixed = flip(),
          .attach_timeout = duration(),
          .detached = flip(),
          .has_input = flip(),
          .trees = text()};
}

JobStart RandomMessages::job_start() {
  return {.job = job(),
          .spec = spec(),
          .home = processor(),
          .request = number(),
          .processors = processor_set(),
          .cast_cut = {number32(), number32()}};
}

JobStage RandomMessages::job_stage() {
  return {.job = job(),
          .stage = choice(Stage::kExited),
          .exit = {.code = code(),
                   .signal = code(),
                   .finished = flip(),
                   .detail = text(),
                   .aborted = flip()},
          .change = number(),
          .written = number(),
          .taken = number()};
}

RandomMessages::Stages RandomMessages::stages() {
  Stages made;
  for (std::size_t left = few(); left > 0; --left) made.put(processor(), job_stage());
  return made;
}

JobHome RandomMessages::job_home() {
  return {
      .job = job(), .home = processor(), .view = number(), .is_new = flip(), .stages = stages()};
}

FollowRequest RandomMessages::follow() {
  FollowRequest made{job(), {}, number(), flip()};
  for (std::size_t left = few(); left > 0; --left) made.shown[processor()] = number();
  return made;
}

Output RandomMessages::output() {
  return {.job = job(),
          .processor = processor(),
          .is_error = flip(),
          .bytes = payload(),
          .number = number(),
          .is_report = flip()};
}

ProcessorStatus RandomMessages::status() {
  const auto job_status = [this] {
    return JobStatus{.job = job(),
                     .name = text(),
                     .home = processor(),
                     .stage = choice(Stage::kExited),
                     .held = vnodes(),
                     .vnodes = number(),
                     .parked = number(),
                     .waiting = text(),
                     .process_waits = text(),
                     .is_held_up = flip(),
                     .ends_because = text(),
                     .figures = {.messages = number(),
                                 .bytes = number(),
                                 .moves = number(),
                                 .waited_ms = number(),
                                 .silent_ms = number()},
                     .vnode_figures = list([this] {
                       return VnodeFigures{vnode(), number(), number(), number(), number()};
                     })};
  };
  return {.id = processor(),
          .view = number(),
          .links = number(),
          .trees = number(),
          .jobs = list(job_status),
          .counters = list([this] {
            return Counter{text(), number()};
          }),
          .detours = list([this] {
            return DetourStatus{processor(), processor()};
          }),
          .asked_trees = list([this] {
            const auto child = [this] { return processor(); };
            return TreeStatus{tree(), processor(), list(child), duration()};
          }),
          .leaving_waits_for = text()};
}

}  // namespace phx::support
