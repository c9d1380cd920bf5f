#include <algorithm>
#include <variant>

#include "tests/support/random_messages.h"

namespace phx::support {

mst::EdgeKey RandomMessages::edge() {
  const std::uint32_t low = number32() / 2;
  return {duration(), ProcessorId{low}, ProcessorId{low + 1 + number32() / 2}};
}

mst::SearchMessage RandomMessages::search() {
  static_assert(std::variant_size_v<mst::SearchMessage> == 8);
  switch (rng_.below(8)) {
    case 0:
      return mst::Connect{number32()};
    case 1:
      return mst::Initiate{number32(), edge(), flip()};
    case 2:
      return mst::Test{number32(), edge()};
    case 3:
      return mst::Accept{};
    case 4:
      return mst::Reject{};
    case 5:
      return flip() ? mst::Report{edge(), number()} : mst::Report{std::nullopt, number()};
    case 6:
      return mst::ChangeRoot{};
    default:
      return mst::Rejoin{};
  }
}

mst::Message RandomMessages::spanning() {
  static_assert(std::variant_size_v<mst::Message> == 17);
  const auto round = [this] { return mst::RoundId{number(), processor()}; };
  const auto stamp = [&] { return mst::Stamp{round(), number32()}; };
  const auto maybe = [this] { return flip() ? std::optional(edge()) : std::nullopt; };
  const auto weight = [this] { return flip() ? kForever : std::min<Duration>(duration(), 59min); };
  switch (rng_.below(17)) {
    case 0:
      return mst::Searching{stamp(), search()};
    case 1:
      return mst::Begin{round(), processor_set()};
    case 2:
      return mst::Outdated{round()};
    case 3:
      return mst::Ready{round(), round(), number()};
    case 4:
      return mst::Step{stamp(), choice(mst::StepKind::kTogether)};
    case 5:
      return mst::Classified{stamp(), number(), number(), number(),
                             list([this] { return edge(); })};
    case 6:
      return mst::Halted{stamp(), number()};
    case 7:
      return mst::Recover{stamp(), edge()};
    case 8:
      return mst::Recovered{stamp(), flip(), maybe()};
    case 9:
      return mst::Exchange{stamp(), edge(), maybe()};
    case 10:
      return mst::Exchanged{stamp()};
    case 11:
      return mst::Done{round()};
    case 12:
      return mst::Offer{weight()};
    case 13:
      return mst::OfferTaken{};
    case 14:
      return mst::Seek{stamp(), processor(), maybe()};
    case 15:
      return mst::SeekReply{stamp(), maybe()};
    default:
      return mst::Behind{round(), processor_set(), duration()};
  }
}

}  // namespace phx::support
