#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/messages/client_messages.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/messages.h"

namespace phx::support {

/// Makes messages with every field drawn from a seed: often small, sometimes at the edges of what
/// the wire carries. Every alternative of every variant can come; a chosen one by its index.
class RandomMessages {
 public:
  explicit RandomMessages(std::uint64_t seed) : rng_(seed) {}

  /// Envelope `kind`, counted as in Envelope; past the last one: a frame without envelope.
  [[nodiscard]] std::optional<runtime::Passage> passage();
  [[nodiscard]] runtime::Frame frame(std::size_t kind);
  [[nodiscard]] runtime::ToDaemon to_daemon(std::size_t kind);
  [[nodiscard]] runtime::ToApplication to_application(std::size_t kind);
  [[nodiscard]] runtime::ClientRequest client_request(std::size_t kind);
  [[nodiscard]] runtime::ClientReply client_reply(std::size_t kind);

 private:
  using Stages = runtime::JobStages;

  // Parts.
  [[nodiscard]] bool flip() { return rng_.below(2) == 0; }
  [[nodiscard]] std::size_t few() { return static_cast<std::size_t>(rng_.below(4)); }
  [[nodiscard]] std::uint64_t number();
  [[nodiscard]] std::uint32_t number32() { return static_cast<std::uint32_t>(number()); }
  [[nodiscard]] std::int32_t code() { return static_cast<std::int32_t>(number32()); }
  [[nodiscard]] VnodeId vnode();
  [[nodiscard]] ProcessorId processor() { return ProcessorId{number32()}; }
  [[nodiscard]] JobId job() { return JobId{number32()}; }
  [[nodiscard]] Duration duration();
  [[nodiscard]] std::string text();
  [[nodiscard]] Payload payload();
  [[nodiscard]] VnodeSet vnodes();
  [[nodiscard]] ProcessorSet processor_set();
  [[nodiscard]] IntervalSet<JobId> jobs();
  [[nodiscard]] TreeId tree();
  template <class Make>
  [[nodiscard]] auto list(Make make) {
    std::vector<decltype(make())> made;
    for (std::size_t left = few(); left > 0; --left) made.push_back(make());
    return made;
  }
  template <class Enum>
  [[nodiscard]] Enum choice(Enum last) {
    return static_cast<Enum>(rng_.below(static_cast<std::uint64_t>(last) + 1));
  }
  [[nodiscard]] std::vector<std::string> texts();
  [[nodiscard]] std::vector<ProcessorId> processors();

  // Structs.
  [[nodiscard]] overlay::TreeAdvert advert();
  [[nodiscard]] overlay::KnownNetwork network();
  [[nodiscard]] overlay::Message overlay_message();
  [[nodiscard]] mst::EdgeKey edge();
  [[nodiscard]] mst::SearchMessage search();
  [[nodiscard]] mst::Message spanning();
  [[nodiscard]] collectives::BroadcastPiece piece();
  [[nodiscard]] SizeClass size();
  [[nodiscard]] collectives::Tokens tokens();
  [[nodiscard]] collectives::ReductionKind reduction_kind();
  [[nodiscard]] collectives::ReductionPart reduction_part();
  [[nodiscard]] collectives::ReductionToken reduction();
  [[nodiscard]] collectives::Message collective();
  [[nodiscard]] runtime::PointToPoint point_to_point();
  [[nodiscard]] runtime::FlowCredit flow_credit();
  [[nodiscard]] runtime::FlowQuestion flow_question() {
    return {vnode(), vnode(), flip(), number(), number()};
  }
  [[nodiscard]] runtime::CastCredit cast_credit();
  [[nodiscard]] runtime::VnodeMessage vnode_message();
  [[nodiscard]] runtime::StatePiece state_piece();
  [[nodiscard]] runtime::VnodeBundle::Casting casting(VnodeId root);
  [[nodiscard]] runtime::Delivery delivery();
  [[nodiscard]] std::map<VnodeId, std::uint64_t> counters();
  [[nodiscard]] runtime::StreamTable<runtime::VnodeBundle::Inbound> streams(bool are_of_broadcasts);
  [[nodiscard]] runtime::StreamTable<runtime::VnodeBundle::Outbound> flows(VnodeId from);
  [[nodiscard]] RunMap<VnodeId, runtime::AtRest> resting();
  [[nodiscard]] std::map<VnodeId, runtime::Contributed> contributed();
  [[nodiscard]] runtime::VnodeBundle bundle(VnodeId vnode_of);
  [[nodiscard]] runtime::VnodeParcel parcel();
  [[nodiscard]] runtime::Member member(ProcessorId id);
  [[nodiscard]] runtime::View view();
  [[nodiscard]] runtime::ViewChange::Gone gone();
  [[nodiscard]] runtime::Routes routes();
  [[nodiscard]] runtime::JobSpec spec();
  [[nodiscard]] runtime::JobStart job_start();
  [[nodiscard]] runtime::JobStage job_stage();
  [[nodiscard]] Stages stages();
  [[nodiscard]] runtime::JobHome job_home();
  [[nodiscard]] runtime::FollowRequest follow();
  [[nodiscard]] runtime::Output output();
  [[nodiscard]] runtime::ProcessorStatus status();
  [[nodiscard]] runtime::Envelope member_envelope(std::size_t kind);
  [[nodiscard]] runtime::Envelope vnode_envelope(std::size_t kind);
  [[nodiscard]] runtime::Envelope job_envelope(std::size_t kind);

  Rng rng_;
};

}  // namespace phx::support
