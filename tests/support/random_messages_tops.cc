#include "tests/support/random_messages.h"

namespace phx::support {

using namespace runtime;  // NOLINT(google-build-using-namespace): every line names its messages

Envelope RandomMessages::member_envelope(std::size_t kind) {
  const auto members = [this] {
    return list([this] { return SharedMember(member(processor())); });
  };
  const auto departures = [this] { return list([this] { return gone(); }); };
  switch (kind) {
    case 0:
      return ViewChange{number(), members(), departures(), number32()};
    case 1:
      return Admit{member(processor()), number()};
    case 2:
      return Admitted{number(), processor(), text(), number(), flip()};
    case 3:
      return Leave{choice(LeaveStep::kRemove)};
    case 4:
      return Suspect{processor(), choice(Departure::kSilent), text(), processor()};
    case 5:
      return ViewQuery{number()};
    case 6:
      return ViewReport{view()};
    case 7:
      return ViewInstall{view(), departures()};
    case 8:
      return Fenced{number(), text()};
    case 9:
      return Heartbeat{duration()};
    case 10:
      return LeaveRefused{processor(), text()};
    default:
      return Flush{flip()};
  }
}

Envelope RandomMessages::vnode_envelope(std::size_t kind) {
  const auto some_tokens = [this] { return list([this] { return tokens(); }); };
  switch (kind) {
    case 12:
      return routes();
    case 13:
      return Pull{job(), number(), vnodes()};
    case 14:
      return Offer{job(), number(), some_tokens()};
    case 15:
      return OfferReply{job(), number(), flip(), text()};
    case 16:
      return OfferCancel{job(), some_tokens()};
    case 17:
      if (flip()) return Migrate{job(), {parcel()}, number(), number()};
      return Migrate{job(), list([this] { return parcel(); }), 0, number()};
    case 18:
      return vnode_message();
    case 19:
      return CollectiveMessage{job(), collective()};
    default:
      return overlay_message();
  }
}

Envelope RandomMessages::job_envelope(std::size_t kind) {
  switch (kind) {
    case 21:
      return JobRequest{number(), spec()};
    case 22:
      return job_start();
    case 23:
      return JobRefused{number(), text()};
    case 24:
      return job_stage();
    case 25:
      return JobEnd{job(), code(), text()};
    case 26:
      return output();
    case 27:
      return OutputTaken{job(), number(), flip()};
    case 28:
      return job_home();
    case 29:
      return JobSignal{job(), code()};
    case 30:
      return StatusQuestion{number(), job(), {processor(), size()}};
    case 31:
      return StatusAnswer{number(), status()};
    case 32:
      return DrainOrder{};
    case 33:
      return DownOrder{processor_set(), text()};
    case 34:
      return state_piece();
    case 35:
      return StateTaken{job(),    number(), choice(StateTaken::Outcome::kRefused),
                        number(), vnode(),  text()};
    default:
      return SpanningMessage{spanning()};
  }
}

std::optional<Passage> RandomMessages::passage() {
  if (flip()) return std::nullopt;
  return Passage{processor(), processor(), number(), choice(Passage::Step::kClose)};
}

Frame RandomMessages::frame(std::size_t kind) {
  static_assert(std::variant_size_v<Envelope::Variant> == 37, "a new one must be made here");
  if (kind >= std::variant_size_v<Envelope::Variant>)
    return Frame{0, number(), std::nullopt, passage()};
  const std::uint64_t seq = number() | 1U;  // never 0
  if (kind < 12) return Frame{seq, number(), member_envelope(kind), passage()};
  if (kind < 21) return Frame{seq, number(), vnode_envelope(kind), passage()};
  return Frame{seq, number(), job_envelope(kind), passage()};
}

VnodeMessage RandomMessages::vnode_message() {
  static_assert(std::variant_size_v<decltype(VnodeMessage::delivery)> == 5);
  switch (rng_.below(5)) {
    case 0:
      return {job(), number(), point_to_point()};
    case 1:
      return {job(), number(), reduction()};
    case 2:
      return {job(), number(), flow_credit()};
    case 3:
      return {job(), number(), flow_question()};
    default:
      return {job(), number(), cast_credit()};
  }
}

ToDaemon RandomMessages::to_daemon(std::size_t kind) {
  static_assert(std::variant_size_v<ToDaemon::Variant> == 15, "a new one must be made here");
  switch (kind) {
    case 0:
      return AppAttach{job(), vnode().value, static_cast<std::int64_t>(number())};
    case 1:
      return AppSend{point_to_point()};
    case 2:
      return AppBroadcast{piece(), vnodes(), flip()};
    case 3:
      return AppContribute{reduction()};
    case 4:
      return AppReleased{number(), list([this] {
                           const VnodeId released = vnode();
                           return std::pair(released, bundle(released));
                         })};
    case 5:
      return AppAck{number()};
    case 6:
      return AppAssume{vnodes()};
    case 7:
      return AppFinish{flip(), code(), text()};
    case 8:
      return AppWaiting{text(), flip() ? std::optional(vnode()) : std::nullopt, number()};
    case 9:
      if (flip()) return AppFlow{cast_credit()};
      return flip() ? AppFlow{flow_credit()} : AppFlow{flow_question()};
    case 10:
      return AppReport{payload()};
    case 11:
      return AppWaited{list([this] { return AppWaited::One{vnode(), number()}; }), number()};
    case 12:
      return AppKeeps{list([this] { return AppKeeps::One{vnode(), number()}; })};
    case 13:
      return AppNetworkQuestion{};
    default:
      return AppClosing{};
  }
}

ToApplication RandomMessages::to_application(std::size_t kind) {
  static_assert(std::variant_size_v<ToApplication::Variant> == 11, "a new one must be made here");
  switch (kind) {
    case 0:
      return AppAttached{job(),  processor(), vnode().value,
                         text(), number(),    {number32(), number32()}};
    case 1:
      return AppGrant{list([this] { return parcel(); })};
    case 2:
      return AppDeliver{number(), delivery()};
    case 3:
      return AppRelease{vnodes()};
    case 4:
      return AppRefused{vnodes(), text()};
    case 5:
      return AppRetire{};
    case 6:
      return AppEnd{code(), text()};
    case 7:
      return AppNetwork{{{number(), processor()}, network()}};
    case 8:
      return AppRedrawn{};
    case 9:
      return AppPlace{flip()};
    default:
      return AppRepair{number()};
  }
}

ClientRequest RandomMessages::client_request(std::size_t kind) {
  static_assert(std::variant_size_v<ClientRequest::Variant> == 9, "a new one must be made here");
  switch (kind) {
    case 0:
      return JoinRequest{member(processor())};
    case 1:
      return StatusRequest{flip(), job(), {processor(), size()}};
    case 2:
      return RunRequest{spec(), number()};
    case 3:
      return follow();
    case 4:
      return SignalRequest{job(), code()};
    case 5:
      return DrainRequest{processors()};
    case 6:
      return InputRequest{job(), number(), payload(), flip()};
    case 7:
      return NetworkRequest{};
    default:
      return DownRequest{};
  }
}

ClientReply RandomMessages::client_reply(std::size_t kind) {
  static_assert(std::variant_size_v<ClientReply::Variant> == 10, "a new one must be made here");
  const auto progress = [this] {
    const auto left = flip() ? std::optional(number()) : std::nullopt;
    return DrainProgress::One{processor(), flip(), left, text(), text()};
  };
  switch (kind) {
    case 0:
      return JoinReply{text(),
                       flip(),
                       processor(),
                       view(),
                       list([this] { return job_start(); }),
                       list([this] { return routes(); }),
                       list([this] { return job_home(); }),
                       jobs(),
                       list([this] {
                         return JobEnd{job(), code(), text()};
                       }),
                       texts()};
    case 1:
      return StatusReply{view(), processor(), list([this] { return status(); }), processors()};
    case 2:
      return RunStarted{job(), processor()};
    case 3:
      return RunOutput{output()};
    case 4:
      return RunEnded{job(), code(), text(), stages()};
    case 5:
      return RunMoved{job(), texts()};
    case 6:
      return DrainProgress{list(progress)};
    case 7:
      return InputTaken{job(), number(), flip()};
    case 8:
      return overlay::NetworkUpdate{{number(), processor()}, network()};
    default:
      return Done{text(), {{processor(), text()}, {processor(), text()}}};
  }
}

}  // namespace phx::support
