#include "runtime/jobs/job_meter.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <tuple>
#include <utility>
#include <variant>

#include "runtime/messages/sent.h"

namespace phx::runtime {
namespace {

/// Says a process, which may say anything.
Duration span_of_us(std::uint64_t us) {
  constexpr std::uint64_t kYear = 1'000'000ULL * 3600 * 24 * 365;
  return std::chrono::microseconds(std::min(us, kYear));
}

std::uint64_t us_since(Instant then, Instant now) {
  return static_cast<std::uint64_t>((now - then) / 1us);
}

}  // namespace

JobMeter::Totals* JobMeter::totals(VnodeId vnode) {
  if (last_ && last_->first == vnode) return last_->second;
  if (vnode.value >= vnodes_of_job_) return nullptr;
  last_ = {vnode, &vnodes_[vnode]};
  return last_->second;
}

void JobMeter::on_app(Instant now, const ToDaemon& message) {
  heard_ = now;
  const Sent sent = sent_with(message);
  figures_.messages += sent.messages;
  figures_.bytes += sent.bytes;
  if (Totals* by = sent.by ? totals(*sent.by) : nullptr; by != nullptr) {
    by->messages += sent.messages;
    by->bytes += sent.bytes;
  }
  if (const auto* m = std::get_if<AppWaited>(&message)) on_waited(*m);
  if (const auto* m = std::get_if<AppWaiting>(&message)) {
    running_.reset();
    if (!m->what.empty()) running_ = Running{now - span_of_us(m->waited_us), m->at};
  }
}

void JobMeter::on_waited(const AppWaited& waited) {
  waited_us_ += waited.others_us;
  for (const AppWaited::One& one : waited.vnodes) {
    waited_us_ += one.us;
    if (Totals* of = totals(one.vnode); of != nullptr) of->waited_us += one.us;
  }
}

void JobMeter::on_moved_here(const std::vector<VnodeParcel>& parcels) {
  figures_.moves += parcels.size();
  for (const VnodeParcel& parcel : parcels) {
    if (Totals* of = totals(parcel.vnode); of != nullptr) ++of->moves;
  }
}

JobFigures JobMeter::figures(Instant now) const {
  JobFigures result = figures_;
  result.waited_ms = (waited_us_ + (running_ ? us_since(running_->since, now) : 0)) / 1000;
  if (heard_) result.silent_ms = us_since(*heard_, now) / 1000;
  return result;
}

std::vector<VnodeFigures> JobMeter::vnodes(Instant now) const {
  std::vector<VnodeFigures> result;
  for (const auto& [vnode, of] : vnodes_) {
    const bool waits = running_ && running_->at == vnode;
    const std::uint64_t waited_us = of.waited_us + (waits ? us_since(running_->since, now) : 0);
    result.push_back({vnode, of.messages, of.bytes, of.moves, waited_us / 1000});
  }
  if (running_ && running_->at && !vnodes_.contains(*running_->at)) {
    result.push_back({*running_->at, 0, 0, 0, us_since(running_->since, now) / 1000});
  }
  if (result.size() > kVnodesMax) {
    std::ranges::stable_sort(result, [](const VnodeFigures& one, const VnodeFigures& other) {
      return std::tie(one.waited_ms, one.bytes) > std::tie(other.waited_ms, other.bytes);
    });
    result.resize(kVnodesMax);
  }
  std::ranges::sort(result, {}, &VnodeFigures::vnode);
  return result;
}

}  // namespace phx::runtime
