#include "runtime/wire/codec_mst.h"

#include <optional>
#include <variant>

namespace phx::wire {

void write(const mst::EdgeKey& in, pb::MstEdge& out, Sink& /*sink*/) {
  const auto& [weight, low, high] = in;
  out.set_weight(duration_number(weight));
  out.set_low(low.value);
  out.set_high(high.value);
}

mst::EdgeKey read(const pb::MstEdge& in, Source& source) {
  source.require(in.low() < in.high(), "MstEdge.high");
  return {.weight = source.duration(in.weight(), "MstEdge.weight"),
          .low = ProcessorId{in.low()},
          .high = ProcessorId{in.high()}};
}

namespace {

void put(const mst::RoundId& in, pb::MstRound* out) {
  const auto& [number, conductor] = in;
  out->set_number(number);
  out->set_conductor(conductor.value);
}

mst::RoundId get(const pb::MstRound& in) {
  return {.number = in.number(), .conductor = ProcessorId{in.conductor()}};
}

void put(const mst::Stamp& in, pb::MstStamp* out) {
  const auto& [round, step] = in;
  put(round, out->mutable_round());
  out->set_step(step);
}

mst::Stamp get(const pb::MstStamp& in) {
  return {.round = get(in.round()), .step = in.step()};
}

/// `part()`: the field, which is made by that.
template <class Part>
void put_if(const std::optional<mst::EdgeKey>& in, Part part, Sink& sink) {
  if (in) write(*in, *part(), sink);
}

std::optional<mst::EdgeKey> get_if(bool has_it, const pb::MstEdge& in, Source& source) {
  if (!has_it) return std::nullopt;
  return read(in, source);
}

// --- Of a search ---------------------------------------------------------------------------------

void put(const mst::Connect& in, pb::MstSearching& out, Sink& /*sink*/) {
  const auto& [level] = in;
  out.set_kind(pb::MstSearching::CONNECT);
  out.set_level(level);
}

void put(const mst::Initiate& in, pb::MstSearching& out, Sink& sink) {
  const auto& [level, fragment, finds] = in;
  out.set_kind(pb::MstSearching::INITIATE);
  out.set_level(level);
  write(fragment, *out.mutable_edge(), sink);
  out.set_finds(finds);
}

void put(const mst::Test& in, pb::MstSearching& out, Sink& sink) {
  const auto& [level, fragment] = in;
  out.set_kind(pb::MstSearching::TEST);
  out.set_level(level);
  write(fragment, *out.mutable_edge(), sink);
}

void put(const mst::Accept& /*in*/, pb::MstSearching& out, Sink& /*sink*/) {
  out.set_kind(pb::MstSearching::ACCEPT);
}

void put(const mst::Reject& /*in*/, pb::MstSearching& out, Sink& /*sink*/) {
  out.set_kind(pb::MstSearching::REJECT);
}

void put(const mst::Report& in, pb::MstSearching& out, Sink& sink) {
  const auto& [best, processors] = in;
  out.set_kind(pb::MstSearching::REPORT);
  put_if(
      best, [&] { return out.mutable_edge(); }, sink);
  out.set_processors(processors);
}

void put(const mst::ChangeRoot& /*in*/, pb::MstSearching& out, Sink& /*sink*/) {
  out.set_kind(pb::MstSearching::CHANGE_ROOT);
}

void put(const mst::Rejoin& /*in*/, pb::MstSearching& out, Sink& /*sink*/) {
  out.set_kind(pb::MstSearching::REJOIN);
}

mst::SearchMessage get_search(const pb::MstSearching& in, Source& source) {
  static_assert(std::variant_size_v<mst::SearchMessage> == 8, "a new message needs a case here");
  switch (in.kind()) {
    case pb::MstSearching::CONNECT:
      return mst::Connect{in.level()};
    case pb::MstSearching::INITIATE:
      return mst::Initiate{in.level(), read(in.edge(), source), in.finds()};
    case pb::MstSearching::TEST:
      return mst::Test{in.level(), read(in.edge(), source)};
    case pb::MstSearching::ACCEPT:
      return mst::Accept{};
    case pb::MstSearching::REJECT:
      return mst::Reject{};
    case pb::MstSearching::REPORT:
      return mst::Report{get_if(in.has_edge(), in.edge(), source), in.processors()};
    case pb::MstSearching::CHANGE_ROOT:
      return mst::ChangeRoot{};
    case pb::MstSearching::REJOIN:
      return mst::Rejoin{};
    default:
      break;
  }
  source.fail("MstSearching.kind");
  return mst::Accept{};
}

// --- One per message, in the order of overlay/mst/messages.h -------------------------------------

void add(const mst::Searching& in, pb::SpanningMessage& out, Sink& sink) {
  const auto& [stamp, what] = in;
  put(stamp, out.mutable_searching()->mutable_stamp());
  std::visit([&](const auto& m) { put(m, *out.mutable_searching(), sink); }, what);
}

void add(const mst::Begin& in, pb::SpanningMessage& out, Sink& /*sink*/) {
  const auto& [round, members] = in;
  put(round, out.mutable_begin()->mutable_round());
  write_set(members, out.mutable_begin()->mutable_members());
}

void add(const mst::Outdated& in, pb::SpanningMessage& out, Sink& /*sink*/) {
  const auto& [newest] = in;
  put(newest, out.mutable_outdated());
}

void add(const mst::Ready& in, pb::SpanningMessage& out, Sink& /*sink*/) {
  const auto& [round, tree, changes] = in;
  put(round, out.mutable_ready()->mutable_round());
  put(tree, out.mutable_ready()->mutable_tree());
  out.mutable_ready()->set_changes(changes);
}

void add(const mst::Step& in, pb::SpanningMessage& out, Sink& /*sink*/) {
  const auto& [stamp, kind] = in;
  put(stamp, out.mutable_step()->mutable_stamp());
  out.mutable_step()->set_kind(static_cast<std::uint32_t>(kind));
}

void add(const mst::Classified& in, pb::SpanningMessage& out, Sink& sink) {
  const auto& [stamp, changed, cut, degree, recoveries] = in;
  pb::MstClassified& written = *out.mutable_classified();
  put(stamp, written.mutable_stamp());
  written.set_changed(changed);
  written.set_cut(cut);
  written.set_degree(degree);
  write_list(recoveries, written.mutable_recoveries(), sink);
}

void add(const mst::Halted& in, pb::SpanningMessage& out, Sink& /*sink*/) {
  const auto& [stamp, processors] = in;
  put(stamp, out.mutable_halted()->mutable_stamp());
  out.mutable_halted()->set_processors(processors);
}

void add(const mst::Recover& in, pb::SpanningMessage& out, Sink& sink) {
  const auto& [stamp, edge] = in;
  put(stamp, out.mutable_recover()->mutable_stamp());
  write(edge, *out.mutable_recover()->mutable_edge(), sink);
}

void add(const mst::Recovered& in, pb::SpanningMessage& out, Sink& sink) {
  const auto& [stamp, is_in_tree, heaviest] = in;
  pb::MstRecovered& written = *out.mutable_recovered();
  put(stamp, written.mutable_stamp());
  written.set_is_in_tree(is_in_tree);
  put_if(
      heaviest, [&] { return written.mutable_heaviest(); }, sink);
}

void add(const mst::Exchange& in, pb::SpanningMessage& out, Sink& sink) {
  const auto& [stamp, comes, goes] = in;
  pb::MstExchange& written = *out.mutable_exchange();
  put(stamp, written.mutable_stamp());
  write(comes, *written.mutable_in(), sink);
  put_if(
      goes, [&] { return written.mutable_out(); }, sink);
}

void add(const mst::Exchanged& in, pb::SpanningMessage& out, Sink& /*sink*/) {
  const auto& [stamp] = in;
  put(stamp, out.mutable_exchanged());
}

void add(const mst::Done& in, pb::SpanningMessage& out, Sink& /*sink*/) {
  const auto& [round] = in;
  put(round, out.mutable_done());
}

void add(const mst::Offer& in, pb::SpanningMessage& out, Sink& /*sink*/) {
  const auto& [weight] = in;
  out.mutable_offer()->set_weight(duration_number(weight));
}

void add(const mst::OfferTaken& /*in*/, pb::SpanningMessage& out, Sink& /*sink*/) {
  out.mutable_offer_taken();
}

void add(const mst::Seek& in, pb::SpanningMessage& out, Sink& sink) {
  const auto& [stamp, target, heaviest] = in;
  pb::MstSeek& written = *out.mutable_seek();
  put(stamp, written.mutable_stamp());
  written.set_target(target.value);
  put_if(
      heaviest, [&] { return written.mutable_heaviest(); }, sink);
}

void add(const mst::SeekReply& in, pb::SpanningMessage& out, Sink& sink) {
  const auto& [stamp, heaviest] = in;
  pb::MstSeekReply& written = *out.mutable_seek_reply();
  put(stamp, written.mutable_stamp());
  put_if(
      heaviest, [&] { return written.mutable_heaviest(); }, sink);
}

void add(const mst::Behind& in, pb::SpanningMessage& out, Sink& /*sink*/) {
  const auto& [round, processors, farthest] = in;
  pb::MstBehind& written = *out.mutable_behind();
  put(round, written.mutable_round());
  write_set(processors, written.mutable_processors());
  written.set_farthest(duration_number(farthest));
}

mst::Classified get(const pb::MstClassified& in, Source& source) {
  return {.stamp = get(in.stamp()),
          .changed = in.changed(),
          .cut = in.cut(),
          .degree = in.degree(),
          .recoveries = read_list(in.recoveries(), source, "MstClassified.recoveries")};
}

mst::Offer get(const pb::MstOffer& in, Source& source) {
  const Duration weight = source.duration(in.weight(), "MstOffer.weight");
  source.require(weight == kForever || weight < 1h, "MstOffer.weight");
  return {weight};
}

mst::Step get(const pb::MstStep& in, Source& source) {
  source.require(in.kind() <= static_cast<std::uint32_t>(mst::StepKind::kTogether), "MstStep.kind");
  return {get(in.stamp()), source.ok() ? static_cast<mst::StepKind>(in.kind()) : mst::StepKind{}};
}

}  // namespace

void write_spanning(const mst::Message& in, pb::SpanningMessage* out, Sink& sink) {
  std::visit([&](const auto& message) { add(message, *out, sink); }, in);
}

mst::Message read(const pb::SpanningMessage& in, Source& source) {
  static_assert(std::variant_size_v<mst::Message> == 17, "a new message needs a case here");
  using Spanning = pb::SpanningMessage;
  const auto edge = [&](bool has_it, const pb::MstEdge& e) { return get_if(has_it, e, source); };
  switch (in.message_case()) {
    case Spanning::kSearching:
      return mst::Searching{get(in.searching().stamp()), get_search(in.searching(), source)};
    case Spanning::kBegin:
      return mst::Begin{get(in.begin().round()),
                        read_processors(in.begin().members(), source, "MstBegin.members")};
    case Spanning::kOutdated:
      return mst::Outdated{get(in.outdated())};
    case Spanning::kReady:
      return mst::Ready{get(in.ready().round()), get(in.ready().tree()), in.ready().changes()};
    case Spanning::kStep:
      return get(in.step(), source);
    case Spanning::kClassified:
      return get(in.classified(), source);
    case Spanning::kHalted:
      return mst::Halted{get(in.halted().stamp()), in.halted().processors()};
    case Spanning::kRecover:
      return mst::Recover{get(in.recover().stamp()), read(in.recover().edge(), source)};
    case Spanning::kRecovered:
      return mst::Recovered{get(in.recovered().stamp()), in.recovered().is_in_tree(),
                            edge(in.recovered().has_heaviest(), in.recovered().heaviest())};
    case Spanning::kExchange:
      return mst::Exchange{get(in.exchange().stamp()), read(in.exchange().in(), source),
                           edge(in.exchange().has_out(), in.exchange().out())};
    case Spanning::kExchanged:
      return mst::Exchanged{get(in.exchanged())};
    case Spanning::kDone:
      return mst::Done{get(in.done())};
    case Spanning::kOffer:
      return get(in.offer(), source);
    case Spanning::kOfferTaken:
      return mst::OfferTaken{};
    case Spanning::kSeek:
      return mst::Seek{get(in.seek().stamp()), ProcessorId{in.seek().target()},
                       edge(in.seek().has_heaviest(), in.seek().heaviest())};
    case Spanning::kSeekReply:
      return mst::SeekReply{get(in.seek_reply().stamp()),
                            edge(in.seek_reply().has_heaviest(), in.seek_reply().heaviest())};
    case Spanning::kBehind:
      return mst::Behind{get(in.behind().round()),
                         read_processors(in.behind().processors(), source, "MstBehind.processors"),
                         source.duration(in.behind().farthest(), "MstBehind.farthest")};
    case Spanning::MESSAGE_NOT_SET:
      break;
  }
  source.fail("SpanningMessage: unknown kind");
  return mst::OfferTaken{};
}

}  // namespace phx::wire
