#include "runtime/tcp/first_words.h"

#include <algorithm>

namespace phx::tcp {

void FirstWords::expect(Instant now, ApplicationId from) {
  silent_.push_back({from, now + kPatience});
}

void FirstWords::forget(ApplicationId from) {
  std::erase_if(silent_, [&](const Silent& one) { return one.from == from; });
}

std::vector<ApplicationId> FirstWords::take_late(Instant now, bool is_read) {
  std::vector<ApplicationId> late;
  std::erase_if(silent_, [&](Silent& one) {
    if (now < one.until) return false;
    if (is_read && one.was_late) {
      late.push_back(one.from);
      return true;
    }
    one.was_late = is_read;
    one.until = now + kOnceMore;
    return false;
  });
  return late;
}

std::optional<Instant> FirstWords::next_deadline() const {
  const auto next = std::ranges::min_element(silent_, {}, &Silent::until);
  return next == silent_.end() ? std::nullopt : std::optional(next->until);
}

}  // namespace phx::tcp
