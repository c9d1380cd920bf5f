#include "overlay/mst/messages.h"

#include <array>

namespace phx::mst {

std::string_view name_of(const Message& message) {
  static constexpr std::array<std::string_view, std::variant_size_v<SearchMessage>> kSearch = {
      "Connect", "Initiate", "Test", "Accept", "Reject", "Report", "ChangeRoot", "Rejoin"};
  static constexpr std::array<std::string_view, std::variant_size_v<Message>> kAll = {
      "Searching", "Begin",      "Outdated",  "Ready",     "Step",      "Classified",
      "Halted",    "Recover",    "Recovered", "Exchange",  "Exchanged", "Done",
      "Offer",     "OfferTaken", "Seek",      "SeekReply", "Behind"};
  if (const auto* search = std::get_if<Searching>(&message)) return kSearch[search->what.index()];
  return kAll[message.index()];
}

}  // namespace phx::mst
