#pragma once

#include <concepts>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"

namespace phx {

/// What a state machine wants done, in order: messages to send, timers to set, events to report.
/// Handlers write into it and never call out, so no handler can be re-entered.
template <class Message, class Timer, class Event>
class Outbox {
 public:
  struct Send {
    ProcessorId to;
    Message message;
    friend bool operator==(const Send&, const Send&) = default;
  };
  /// Sets `timer`, replacing an earlier setting; `at` empty: stops it.
  struct Arm {
    Timer timer;
    std::optional<Instant> at;
    friend bool operator==(const Arm&, const Arm&) = default;
  };
  using Item = std::variant<Send, Arm, Event>;

  Outbox() = default;
  /// With room for what will be written: an empty list [spare_room.h].
  explicit Outbox(std::vector<Item>&& room) : items_(std::move(room)) {}

  void send(ProcessorId to, Message message) {
    items_.emplace_back(std::in_place_type<Send>, Send{to, std::move(message)});
  }
  /// The same without a detour for messages that are of one of its kinds.
  template <class Kind>
  requires(std::constructible_from<Message, Kind>) void send(ProcessorId to, Kind&& message) {
    items_.emplace_back(std::in_place_type<Send>, Send{to, Message(std::forward<Kind>(message))});
  }
  void arm(Timer timer, Instant at) {
    items_.emplace_back(std::in_place_type<Arm>, Arm{timer, at});
  }
  void disarm(Timer timer) {
    items_.emplace_back(std::in_place_type<Arm>, Arm{timer, std::nullopt});
  }
  void report(Event event) { items_.emplace_back(std::in_place_type<Event>, std::move(event)); }
  template <class Kind>
  requires(std::constructible_from<Event, Kind>) void report(Kind&& event) {
    items_.emplace_back(std::in_place_type<Event>, std::forward<Kind>(event));
  }

  [[nodiscard]] const std::vector<Item>& items() const { return items_; }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  /// Gives away all items and is empty afterwards.
  [[nodiscard]] std::vector<Item> take() { return std::exchange(items_, {}); }

 private:
  std::vector<Item> items_;
};

}  // namespace phx
