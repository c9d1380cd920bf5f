#include "runtime/api/report.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/messages/sent.h"

namespace phx {
namespace {

using std::chrono::microseconds;

constexpr Report::Span kPeriodMin = std::chrono::milliseconds(50);
constexpr std::int64_t kPeriods = 500;  // Until the period is twice as long.
constexpr std::size_t kVnodesMax = 1000;

std::int64_t us(Report::Span span) {
  return std::chrono::duration_cast<microseconds>(span).count();
}

std::string set_and_bytes(const VnodeSet& vnodes, std::uint64_t bytes) {
  return to_string(vnodes) + ' ' + std::to_string(bytes);
}

}  // namespace

void Report::line(const char* what, Time when, const std::string& rest) {
  lines_ += what;
  lines_ += ' ' + std::to_string(day_.count() + us(when - begun_));
  if (!rest.empty()) lines_ += ' ' + rest;
  lines_ += '\n';
}

void Report::on_sent(const runtime::ToDaemon& message) {
  const runtime::Sent sent = runtime::sent_with(message);
  did_.messages += sent.messages;
  did_.bytes += sent.bytes;
  if (!sent.by) return;
  Totals& vnode = vnodes_[*sent.by];
  vnode.messages += sent.messages;
  vnode.bytes += sent.bytes;
}

void Report::on_begun(Time now, const VnodeSet& vnodes) {
  if (!vnodes.empty()) line("begins", now, to_string(vnodes));
}

void Report::on_came(Time now, const VnodeSet& vnodes, std::uint64_t bytes) {
  if (!vnodes.empty()) line("came", now, set_and_bytes(vnodes, bytes));
}

void Report::on_left(Time now, const VnodeSet& vnodes, std::uint64_t bytes) {
  if (!vnodes.empty()) line("left", now, set_and_bytes(vnodes, bytes));
}

void Report::on_pause(Time began, Span took) {
  line("pause", began, std::to_string(us(took)));
}

void Report::tell(Time now) {
  line("did", now,
       std::to_string(did_.messages) + ' ' + std::to_string(did_.bytes) + ' ' +
           std::to_string(us(waited_)));
  told_ = now;
  did_ = {};
  waited_ = {};
}

std::string Report::take(Time now) {
  const Span period = std::max(kPeriodMin, (now - begun_) / kPeriods);
  if (now < told_ + period) return {};
  tell(now);
  return std::exchange(lines_, {});
}

std::string Report::finish(Time now) {
  tell(now);
  std::vector<std::pair<VnodeId, Totals>> busiest(vnodes_.begin(), vnodes_.end());
  std::ranges::stable_sort(busiest, [](const auto& one, const auto& other) {
    return std::tie(one.second.bytes, one.second.waited) >
           std::tie(other.second.bytes, other.second.waited);
  });
  if (busiest.size() > kVnodesMax) busiest.resize(kVnodesMax);
  for (const auto& [vnode, totals] : busiest) {
    lines_ += "vnode " + std::to_string(vnode.value) + ' ' + std::to_string(totals.messages) + ' ' +
              std::to_string(totals.bytes) + ' ' + std::to_string(us(totals.waited)) + '\n';
  }
  line("ended", now);
  return std::exchange(lines_, {});
}

}  // namespace phx
