#pragma once

#include <google/protobuf/repeated_field.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/wire/codec.h"

/// Inside of the codec: what the write() and read() functions of all messages are made of. A
/// write() names every member of its struct by a structured binding, so a new member does not
/// compile until it is handled.
namespace phx::wire {

using Numbers64 = google::protobuf::RepeatedField<std::uint64_t>;
using Numbers32 = google::protobuf::RepeatedField<std::uint32_t>;
template <class P>
using Entries = google::protobuf::RepeatedPtrField<P>;

/// Collects the payloads of a message that is being encoded.
class Sink {
 public:
  /// Puts it behind the others; returns its size, for the header.
  std::uint64_t payload(const Payload& payload);
  [[nodiscard]] std::vector<Payload> take() { return std::move(payloads_); }

 private:
  std::vector<Payload> payloads_;
};

/// Gives out the payload of a message that is being decoded, and keeps the first thing found wrong.
/// After a failure everything it returns is harmless and of no use.
class Source {
 public:
  explicit Source(Payload payload) : payload_(std::move(payload)) {}

  void fail(const char* field) {
    if (wrong_ == nullptr) wrong_ = field;
  }
  void require(bool holds, const char* field) {
    if (!holds) fail(field);
  }
  /// A list, which has been read already, is not longer than it may be. False: give it up.
  template <class List>
  bool require_short(const List& list, const char* field) {
    require(static_cast<std::size_t>(list.size()) <= kListMax, field);
    return ok();
  }
  [[nodiscard]] bool ok() const { return wrong_ == nullptr; }
  /// To be called at the end: all of the payload must have been taken.
  [[nodiscard]] Status finish() const;

  /// The next `size` bytes.
  [[nodiscard]] Payload payload(std::uint64_t size, const char* field);
  [[nodiscard]] VnodeId vnode(std::uint64_t id, const char* field);
  [[nodiscard]] Duration duration(std::uint64_t number, const char* field);
  [[nodiscard]] std::string text(const std::string& bytes, const char* field);
  /// An enum whose values are 0..last.
  template <class Enum>
  [[nodiscard]] Enum choice(int number, Enum last, const char* field) {
    if (number < 0 || number > static_cast<int>(last)) {
      fail(field);
      return Enum{};
    }
    return static_cast<Enum>(number);
  }

 private:
  Payload payload_;
  std::size_t taken_ = 0;
  const char* wrong_ = nullptr;
};

[[nodiscard]] std::uint64_t duration_number(Duration duration);
void write_text(const std::string& text, std::string* out);
void write_texts(const std::vector<std::string>& texts, Entries<std::string>* out);
[[nodiscard]] std::vector<std::string> read_texts(const Entries<std::string>& in, Source& source,
                                                  const char* field);
void write_ids(const std::vector<ProcessorId>& ids, Numbers32* out);
[[nodiscard]] std::vector<ProcessorId> read_ids(const Numbers32& in, Source& source,
                                                const char* field);
void write_set(const VnodeSet& set, Numbers64* out);
void write_set(const ProcessorSet& set, Numbers64* out);
void write_set(const IntervalSet<JobId>& set, Numbers64* out);
[[nodiscard]] VnodeSet read_vnodes(const Numbers64& in, Source& source, const char* field);
[[nodiscard]] ProcessorSet read_processors(const Numbers64& in, Source& source, const char* field);
[[nodiscard]] IntervalSet<JobId> read_jobs(const Numbers64& in, Source& source, const char* field);

using Counters = std::map<VnodeId, std::uint64_t>;
/// `number_of` takes a value of the map and returns the number to write.
template <class Map, class NumberOf>
void write_counters(const Map& counters, Numbers64* out, NumberOf number_of) {
  out->Reserve(static_cast<int>(2 * counters.size()));
  std::uint64_t next = 0;  // the smallest key that may follow
  for (const auto& entry : counters) {
    out->Add(entry.first.value - next);
    out->Add(number_of(entry.second));
    next = entry.first.value + 1;
  }
}
[[nodiscard]] Counters read_counters(const Numbers64& in, Source& source, const char* field);

/// Applies write() to each.
template <class T, class P>
void write_list(const std::vector<T>& in, Entries<P>* out, Sink& sink) {
  out->Reserve(static_cast<int>(in.size()));
  for (const T& entry : in) write(entry, *out->Add(), sink);
}
/// Applies read() to each.
template <class P>
[[nodiscard]] auto read_list(const Entries<P>& in, Source& source, const char* field) {
  std::vector<decltype(read(std::declval<const P&>(), source))> list;
  if (!source.require_short(in, field)) return list;
  list.reserve(static_cast<std::size_t>(in.size()));
  for (const P& entry : in) {
    if (!source.ok()) break;
    list.push_back(read(entry, source));
  }
  return list;
}

}  // namespace phx::wire
