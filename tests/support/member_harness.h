#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/membership/membership.h"

namespace phx::support {

constexpr ProcessorId p(std::uint32_t value) {
  return ProcessorId{value};
}

inline runtime::View view_of(std::uint32_t members) {
  runtime::View view;
  view.number = 10;
  for (std::uint32_t i = 1; i <= members; ++i) {
    view.members.put(
        runtime::Member{p(i), 100 + i, {"127.0.0.1:" + std::to_string(i)}, "m", false});
  }
  view.next_processor = members + 1;
  return view;
}

/// One machine among members p1, p2, ...
struct MemberHarness {
  MemberHarness(std::uint32_t self, std::uint32_t members,
                const runtime::MembershipOptions& options = {})
      : machine(p(self), view_of(members), options) {}
  /// Messages of this kind go to these.
  template <class M>
  std::vector<ProcessorId> take_receivers() {
    std::vector<ProcessorId> receivers;
    for (const auto& [to, message] : take<M>()) receivers.push_back(to);
    return receivers;
  }
  /// p1 in this view.
  explicit MemberHarness(const runtime::View& view) : machine(p(1), view, {}) {}
  template <class M>
  void message(std::uint32_t from, const M& m) {
    now += 100ms;  // longer than wishes are gathered
    machine.on_message(now, p(from), m, out);
    machine.check_invariants();
  }
  void suspect(std::uint32_t accused, runtime::Departure why = runtime::Departure::kSilent) {
    machine.suspect(now, p(accused), why, "test", out);
    machine.check_invariants();
  }
  /// Messages of this kind since the last take, as (to, message).
  template <class M>
  std::vector<std::pair<ProcessorId, M>> take() {
    std::vector<std::pair<ProcessorId, M>> found;
    for (auto& item : out.take()) {
      auto* send = std::get_if<runtime::Membership::Outbox::Send>(&item);
      if (send == nullptr) continue;
      if (auto* m = std::get_if<M>(&send->message)) found.emplace_back(send->to, std::move(*m));
    }
    return found;
  }
  template <class E>
  std::vector<E> take_events() {
    std::vector<E> found;
    for (auto& item : out.take()) {
      auto* event = std::get_if<runtime::Membership::Event>(&item);
      if (event == nullptr) continue;
      if (auto* e = std::get_if<E>(event)) found.push_back(std::move(*e));
    }
    return found;
  }

  Instant now;
  runtime::Membership::Outbox out;
  runtime::Membership machine;
};

inline runtime::Member newcomer(std::uint64_t incarnation) {
  return runtime::Member{kNobody, incarnation, {"127.0.0.1:9"}, "new", false};
}
inline runtime::Suspect silent(std::uint32_t accused, std::uint32_t accuser) {
  return {p(accused), runtime::Departure::kSilent, "no answer", p(accuser)};
}
/// The member with this id has moved to a machine of its own.
inline runtime::View apart(runtime::View view, std::uint32_t id) {
  runtime::Member moved = view.members.at(p(id));
  moved.endpoints = {"10.0.0." + std::to_string(id) + ":1"};
  view.members.put(std::move(moved));
  return view;
}
inline runtime::ViewChange gone_change(ViewNumber number, std::uint32_t id,
                                       runtime::Departure why) {
  return runtime::ViewChange{number, {}, {{p(id), why, "x"}}};
}

}  // namespace phx::support
