#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"

namespace phx::overlay::support {

/// Takes the messages of kind M that were written to `out`, with their receivers; all else stays in
/// `items`.
template <class M, class Outbox>
std::vector<std::pair<ProcessorId, M>> take_sent(Outbox& out,
                                                 std::vector<typename Outbox::Item>& items) {
  for (auto& item : out.take()) items.push_back(std::move(item));
  std::vector<std::pair<ProcessorId, M>> found;
  std::erase_if(items, [&](const auto& item) {
    const auto* send = std::get_if<typename Outbox::Send>(&item);
    if (send == nullptr || !std::holds_alternative<M>(send->message)) return false;
    found.push_back({send->to, std::get<M>(send->message)});
    return true;
  });
  return found;
}

}  // namespace phx::overlay::support
