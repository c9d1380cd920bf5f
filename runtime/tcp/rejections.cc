#include "runtime/tcp/rejections.h"

namespace phx::tcp {

std::optional<std::uint64_t> Rejections::count(Instant now, ErrorCode kind,
                                               const std::string& address) {
  ++total_;
  const auto found = entries_.find({kind, address});
  if (found != entries_.end()) {
    Entry& entry = found->second;
    ++entry.unlogged;
    if (now - entry.logged_at < kQuiet) return std::nullopt;
    entry.logged_at = now;
    return std::exchange(entry.unlogged, 0);
  }
  if (entries_.size() >= kPairsMax) {
    std::erase_if(entries_, [&](const auto& e) { return now - e.second.logged_at >= kQuiet; });
  }
  if (entries_.size() >= kPairsMax) return std::nullopt;
  entries_[{kind, address}] = Entry{now, 0};
  return 1;
}

}  // namespace phx::tcp
