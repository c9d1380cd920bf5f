#include "runtime/endpoint/inflows.h"

#include <algorithm>
#include <utility>

namespace phx::runtime {

Inflows::Inflows(const InflowOptions& options, bool lowest_first)
    : options_(options), lowest_first_(lowest_first) {
  // One flow alone does not fill the inbox.
  options_.window_max = std::min(options.window_max, options.inbox_bytes / 4);
}

std::uint64_t Inflows::limit(const Stream& stream) const {
  return std::max(stream.limit, options_.unasked_bytes);
}

std::uint64_t Inflows::window(const Stream& stream) const {
  return std::max(stream.window, options_.unasked_bytes);
}

bool Inflows::admits(const Key& key, std::uint64_t bytes, std::uint64_t waiting) {
  // Whoever was refused stays so until it is granted: then something is missing for certain, comes
  // again, and its being taken makes room for the next one.
  if (!is_refused_.contains(key)) {
    const std::uint64_t with_it = waiting + bytes;
    if (with_it <= options_.inbox_bytes || assembling_ == key) return true;
    const bool is_wanted = wanted_.contains(key);
    if (is_wanted && with_it <= options_.inbox_bytes_max) return true;
    is_full_ = is_full_ || is_wanted;
    // One flow goes on in any case, so that a message of any size is put together.
    if (goes_before(key)) {
      assembling_ = key;
      return true;
    }
    is_refused_.insert(key);
    refused_.push_back(key);
  }
  ++refusals_;
  return false;
}

/// Gives credit once half of the window is free: early enough that a fast pair never waits.
void Inflows::consider(const Key& key, Stream& stream, Flow& flow) {
  const std::uint64_t before = limit(stream);
  // Half of what goes unasked tells a flow that goes on from a message or two.
  if (flow.untaken == 0 && stream.offset >= options_.unasked_bytes / 2) {
    stream.window = flow.tuner.on_taken(now_, stream.offset, window(stream), options_);
  }
  const std::uint64_t width = window(stream);
  // Broadcasts may come beyond what was granted, so more may wait than the window is wide.
  const std::uint64_t end = stream.offset + width;
  const std::uint64_t free = end - std::min(end, flow.untaken);
  if (free < before + width / 2) {
    if (stream.offset >= before) stalled_.insert(key);
    return;
  }
  stream.limit = free;
  // A piece that was wanted beyond the window has moved the end of it, and yet nothing may come.
  if (stream.offset < free) {
    stalled_.erase(key);
  } else {
    stalled_.insert(key);
  }
  credit(key, stream, false);
}

void Inflows::credit(const Key& key, const Stream& stream, bool again) {
  FlowCredit credit{key.second, key.first, stream.next, limit(stream), {}};
  if (again) credit.again = stream.next;
  credits_.push_back(credit);
}

void Inflows::on_piece(const Key& key, Stream& stream, std::uint64_t weight,
                       std::uint64_t untaken) {
  Flow& flow = flows_[key];
  stream.offset += weight;
  flow.untaken += untaken;
  if (stream.asked != 0 && stream.next >= stream.asked) {
    stream.asked = 0;
    credit(key, stream, false);
  }
  consider(key, stream, flow);
}

void Inflows::on_taken(const Key& key, Stream& stream, std::uint64_t bytes) {
  Flow& flow = flows_[key];
  flow.untaken -= std::min(flow.untaken, bytes);
  const bool is_through = flow.untaken == 0 && stream.begun.empty() && stream.early.empty();
  if (is_through) pass_on(key);
  consider(key, stream, flow);
}

void Inflows::on_question(const Key& key, Stream& stream, const FlowQuestion& question) {
  if (stream.next < question.end) stream.asked = std::max(stream.asked, question.end);
  credit(key, stream, question.is_lost && !is_refused_.contains(key));
}

void Inflows::add(const Key& key, const Stream& stream, std::uint64_t bytes) {
  flows_[key] = {bytes, {}};
  if (stream.offset >= limit(stream)) stalled_.insert(key);
}

void Inflows::remove(VnodeId to, const StreamTable<Stream>::Active& streams) {
  const auto drop = [to](auto& keys) {
    std::erase_if(keys, [to](const Key& key) { return key.first == to; });
  };
  // Whoever holds it next has room, or refuses again.
  for (const Key& key : is_refused_) {
    const auto stream = streams.find(key.second);
    if (key.first == to && stream != streams.end()) credit(key, stream->second, true);
  }
  drop(stalled_);
  drop(refused_);
  drop(is_refused_);
  drop(wanted_);
  if (assembling_ && assembling_->first == to) assembling_.reset();
  flows_.erase(flows_.lower_bound({to, VnodeId{0}}), flows_.upper_bound({to, VnodeId{~0ULL}}));
}

bool Inflows::rest(const Key& key, Stream& stream) {
  const auto flow = flows_.find(key);
  const bool is_waited_for = flow != flows_.end() && flow->second.untaken > 0;
  if (is_waited_for || assembling_ == key || stalled_.contains(key) || is_refused_.contains(key) ||
      wanted_.contains(key)) {
    return false;
  }
  // Trials begin anew when it goes on: until then a wider window is not known to be worth it.
  stream.window = std::min(stream.window, options_.window_free);
  if (flow != flows_.end()) flows_.erase(flow);
  return true;
}

void Inflows::take_refused(std::deque<Key>::iterator at, std::vector<Key>& out) {
  out.push_back(*at);
  is_refused_.erase(*at);
  refused_.erase(at);
}

bool Inflows::forget(const Key& key) {
  pass_on(key);
  if (is_refused_.erase(key) == 0) return false;
  std::erase(refused_, key);
  return true;
}

std::vector<Inflows::Key> Inflows::take_reopened(std::uint64_t waiting) {
  if (waiting <= options_.inbox_bytes) assembling_.reset();
  std::vector<Key> reopened;
  // What they may send at once has to fit, and some room is left for those who were not refused.
  std::uint64_t expected = waiting;
  while (!refused_.empty() && expected + options_.unasked_bytes <= options_.inbox_bytes / 4 * 3) {
    expected += options_.unasked_bytes;
    take_refused(refused_.begin(), reopened);
  }
  if (!reopened.empty() || refused_.empty()) return reopened;
  const auto next = lowest_first_ ? std::ranges::min_element(refused_) : refused_.begin();
  if (goes_before(*next)) {
    assembling_ = *next;
    take_refused(next, reopened);
  }
  return reopened;
}

std::vector<Inflows::Key> Inflows::take_wanted(const Wanted& wanted) {
  std::vector<Key> keys;
  for (const Key& key : stalled_) {
    if (wanted.matches(key)) keys.push_back(key);
  }
  for (const Key& key : is_refused_) {
    if (wanted.matches(key) && !stalled_.contains(key)) keys.push_back(key);
  }
  for (const Key& key : keys) {
    stalled_.erase(key);
    if (is_refused_.erase(key) > 0) std::erase(refused_, key);
  }
  wanted_.insert(keys.begin(), keys.end());
  return keys;
}

void Inflows::grant(const Key& key, Stream& stream) {
  stream.limit = std::max(limit(stream), stream.offset + window(stream));
  stalled_.erase(key);
  credit(key, stream, true);
}

void Inflows::close(const Key& key) {
  credits_.push_back({key.second, key.first, kFlowClosed, 0, {}});
}

}  // namespace phx::runtime
