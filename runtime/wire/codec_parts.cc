#include "runtime/wire/codec_parts.h"

#include <algorithm>
#include <limits>

namespace phx::wire {
namespace {

constexpr std::uint64_t kId32End = std::uint64_t{std::numeric_limits<std::uint32_t>::max()} + 1;

template <class Id>
void write_ranges(const IntervalSet<Id>& set, Numbers64* out) {
  out->Reserve(static_cast<int>(2 * set.ranges().size()));
  std::uint64_t next = 0;  // the smallest id with which the next range may begin
  for (const auto& range : set.ranges()) {
    out->Add(range.first.value - next);
    out->Add(std::uint64_t{range.last.value} - range.first.value);
    next = std::uint64_t{range.last.value} + 2;
  }
}

/// `end` is above every id, and small enough that no sum below overflows.
template <class Id>
IntervalSet<Id> read_ranges(const Numbers64& in, std::uint64_t end, Source& source,
                            const char* field) {
  IntervalSet<Id> set;
  const auto count = static_cast<std::size_t>(in.size());
  source.require(count % 2 == 0 && count / 2 <= kListMax, field);
  if (!source.ok()) return set;
  std::uint64_t next = 0;
  for (int i = 0; i < in.size(); i += 2) {
    const std::uint64_t gap = in.Get(i);
    const std::uint64_t more = in.Get(i + 1);
    if (gap >= end || next + gap >= end || more >= end || next + gap + more >= end) {
      source.fail(field);
      return {};
    }
    const std::uint64_t first = next + gap;
    const std::uint64_t last = first + more;
    set.insert({Id{static_cast<typename Id::rep>(first)}, Id{static_cast<typename Id::rep>(last)}});
    next = last + 2;
  }
  return set;
}

}  // namespace

std::uint64_t Sink::payload(const Payload& payload) {
  if (!payload.empty()) payloads_.push_back(payload);
  return payload.size();
}

Status Source::finish() const {
  if (wrong_ != nullptr) {
    return Error{ErrorCode::kBadInput, std::string("a message with a bad field: ") + wrong_};
  }
  if (taken_ != payload_.size()) {
    return Error{ErrorCode::kBadInput, "a message with more payload than its header names"};
  }
  return success();
}

Payload Source::payload(std::uint64_t size, const char* field) {
  if (size > payload_.size() - taken_) {
    fail(field);
    return {};
  }
  if (size == 0) return {};
  const std::size_t at = taken_;
  taken_ += static_cast<std::size_t>(size);
  return payload_.slice(at, static_cast<std::size_t>(size));
}

VnodeId Source::vnode(std::uint64_t id, const char* field) {
  require(id < kVnodeIdEnd, field);
  return VnodeId{id};
}

Duration Source::duration(std::uint64_t number, const char* field) {
  if (number == 0) return kForever;
  if (number - 1 > static_cast<std::uint64_t>(kForever.count())) {
    fail(field);
    return kForever;
  }
  return Duration(static_cast<Duration::rep>(number - 1));
}

std::string Source::text(const std::string& bytes, const char* field) {
  require(bytes.size() <= kTextMax, field);
  return bytes.size() <= kTextMax ? bytes : std::string();
}

std::uint64_t duration_number(Duration duration) {
  if (duration == kForever) return 0;
  return static_cast<std::uint64_t>(std::max(duration, Duration::zero()).count()) + 1;
}

void write_text(const std::string& text, std::string* out) {
  out->assign(text, 0, kTextMax);
}

void write_texts(const std::vector<std::string>& texts, Entries<std::string>* out) {
  for (const std::string& text : texts) write_text(text, out->Add());
}

std::vector<std::string> read_texts(const Entries<std::string>& in, Source& source,
                                    const char* field) {
  std::vector<std::string> texts;
  if (!source.require_short(in, field)) return texts;
  for (const std::string& bytes : in) texts.push_back(source.text(bytes, field));
  return texts;
}

void write_ids(const std::vector<ProcessorId>& ids, Numbers32* out) {
  out->Reserve(static_cast<int>(ids.size()));
  for (const ProcessorId id : ids) out->Add(id.value);
}

std::vector<ProcessorId> read_ids(const Numbers32& in, Source& source, const char* field) {
  std::vector<ProcessorId> ids;
  if (!source.require_short(in, field)) return ids;
  ids.reserve(static_cast<std::size_t>(in.size()));
  for (const std::uint32_t id : in) ids.push_back(ProcessorId{id});
  return ids;
}

void write_set(const VnodeSet& set, Numbers64* out) {
  write_ranges(set, out);
}
void write_set(const ProcessorSet& set, Numbers64* out) {
  write_ranges(set, out);
}
void write_set(const IntervalSet<JobId>& set, Numbers64* out) {
  write_ranges(set, out);
}

VnodeSet read_vnodes(const Numbers64& in, Source& source, const char* field) {
  return read_ranges<VnodeId>(in, kVnodeIdEnd, source, field);
}

ProcessorSet read_processors(const Numbers64& in, Source& source, const char* field) {
  // A range is a few bytes, however many are in it, and whoever gets it may look at each.
  ProcessorSet set = read_ranges<ProcessorId>(in, kId32End, source, field);
  return source.require_short(set, field) ? set : ProcessorSet{};
}

IntervalSet<JobId> read_jobs(const Numbers64& in, Source& source, const char* field) {
  return read_ranges<JobId>(in, kId32End, source, field);
}

Counters read_counters(const Numbers64& in, Source& source, const char* field) {
  Counters counters;
  const auto count = static_cast<std::size_t>(in.size());
  source.require(count % 2 == 0 && count / 2 <= kListMax, field);
  if (!source.ok()) return counters;
  std::uint64_t next = 0;
  for (int i = 0; i < in.size(); i += 2) {
    const std::uint64_t gap = in.Get(i);
    if (gap >= kVnodeIdEnd || next + gap >= kVnodeIdEnd) {
      source.fail(field);
      return {};
    }
    counters.emplace_hint(counters.end(), VnodeId{next + gap}, in.Get(i + 1));
    next += gap + 1;
  }
  return counters;
}

}  // namespace phx::wire
