#include "runtime/sim/meter.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace phx::sim {
namespace {

/// The name of a struct as it is written in the source, without its namespace.
template <class T>
constexpr std::string_view name_of() {
  constexpr std::string_view kParameter = "T = ";
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find(kParameter) + kParameter.size());
  name = name.substr(0, name.find_first_of(";]"));
  return name.substr(name.rfind(':') + 1);
}

/// A root asks how far the receivers of its broadcasts are.
bool is_question(const runtime::CollectiveMessage& m) {
  const collectives::BroadcastPiece* piece = runtime::copied_piece(m);
  return piece != nullptr && collectives::is_question(piece->purpose);
}

}  // namespace

std::string_view kind_of(const runtime::Frame& frame) {
  constexpr std::string_view kNone = "acknowledgement";
  if (!frame.envelope) return kNone;
  const auto name = [](const auto& m) { return name_of<std::decay_t<decltype(m)>>(); };
  const auto& envelope = static_cast<const runtime::Envelope::Variant&>(*frame.envelope);
  return std::visit(
      [&](const auto& m) -> std::string_view {
        using M = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<M, overlay::Message>) {
          return std::visit(name, static_cast<const overlay::Message::Variant&>(m));
        } else if constexpr (std::is_same_v<M, runtime::CollectiveMessage>) {
          return is_question(m) ? "CastQuestion" : std::visit(name, m.message);
        } else if constexpr (std::is_same_v<M, runtime::SpanningMessage>) {
          return mst::name_of(m.message);
        } else if constexpr (std::is_same_v<M, runtime::VnodeMessage>) {
          return std::visit(name, m.delivery);
        } else {
          return name(m);
        }
      },
      envelope);
}

void Meter::on_frame(MachineId from, MachineId to, const runtime::Frame& frame,
                     std::uint64_t bytes) {
  const std::size_t needed = std::max(from.value, to.value) + std::size_t{1};
  if (machines_.size() < needed) machines_.resize(needed);
  const std::string_view kind = kind_of(frame);
  kinds_[kind].add(bytes);
  // What is sent only to be timed would hide what an event costs.
  if (kind == "Load" || kind == "Fetch") return;
  all_.add(bytes);
  if (frame.envelope) {
    const auto* message = std::get_if<runtime::CollectiveMessage>(&*frame.envelope);
    const auto* copy =
        message == nullptr ? nullptr : std::get_if<collectives::TreeCopy>(&message->message);
    if (copy != nullptr) ++budgets_[copy->hops_left];
  }
  machines_[from.value].add(bytes);
  machines_[to.value].add(bytes);
}

Meter::Count Meter::of(std::string_view kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? Count{} : found->second;
}

Meter::Count Meter::busiest() const {
  Count most;
  for (const Count& machine : machines_) {
    most.messages = std::max(most.messages, machine.messages);
    most.bytes = std::max(most.bytes, machine.bytes);
  }
  return most;
}

Meter Meter::since(const Meter& before) const {
  Meter result;
  result.all_ = all_.minus(before.all_);
  for (const auto& [kind, count] : kinds_) {
    const Count fresh = count.minus(before.of(kind));
    if (fresh.messages > 0) result.kinds_[kind] = fresh;
  }
  result.machines_ = machines_;
  for (const auto& [hops, copies] : budgets_) {
    const auto found = before.budgets_.find(hops);
    const std::uint64_t known = found == before.budgets_.end() ? 0 : found->second;
    if (copies > known) result.budgets_[hops] = copies - known;
  }
  for (std::size_t i = 0; i < before.machines_.size(); ++i) {
    result.machines_[i] = machines_[i].minus(before.machines_[i]);
  }
  return result;
}

}  // namespace phx::sim
