#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"

namespace phx::runtime {

/// A processor as the members know it.
struct Member {
  ProcessorId id;
  std::uint64_t incarnation = 0;       ///< Random, chosen by the process: tells two lives apart.
  std::vector<std::string> endpoints;  ///< "address:port", the preferred one first.
  std::string name;                    ///< The machine's name, for people.
  bool leaving = false;                ///< Drains: gets no vnodes and no new jobs.
  bool emptied = false;                ///< Has no vnodes any more: in no tree.
  bool embedded = false;               ///< Inside a program. All of a mesh are, or none.
  friend bool operator==(const Member&, const Member&) = default;
};

/// One Member that views and messages share: a copy is a pointer. It never changes.
class SharedMember {
 public:
  SharedMember(Member member) : record_(std::make_shared<const Member>(std::move(member))) {}

  [[nodiscard]] const Member& operator*() const { return *record_; }
  [[nodiscard]] const Member* operator->() const { return record_.get(); }
  [[nodiscard]] ProcessorId id() const { return record_->id; }
  friend bool operator==(const SharedMember& a, const SharedMember& b) {
    return a.record_ == b.record_ || *a == *b;
  }

 private:
  std::shared_ptr<const Member> record_;
};

/// The members of a view, by ascending id. Costs 16 bytes per member, and the records themselves
/// once, however many views have them: so the daemons of one simulation share them. put() of the
/// highest id is O(1) but for the room; other changes move what is behind. Not thread-safe.
class Members {
 public:
  struct Entry {
    ProcessorId first;
    const Member& second;
  };
  /// Bidirectional. Valid until the next change.
  class Iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using reference = Entry;
    struct pointer {
      Entry entry;
      const Entry* operator->() const { return &entry; }
    };

    Iterator() = default;
    explicit Iterator(std::vector<SharedMember>::const_iterator at) : at_(at) {}
    Entry operator*() const { return {at_->id(), **at_}; }
    pointer operator->() const { return {**this}; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    Iterator& operator--() { return --at_, *this; }
    Iterator operator--(int) { return Iterator(at_--); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    std::vector<SharedMember>::const_iterator at_;
  };

  /// Adds it, or takes it instead of the one with this id.
  void put(SharedMember member);
  /// How many were erased.
  std::size_t erase(ProcessorId id);

  [[nodiscard]] bool empty() const { return records_.empty(); }
  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] bool contains(ProcessorId id) const { return find(id) != end(); }
  /// REQUIRES contains(id).
  [[nodiscard]] const Member& at(ProcessorId id) const;
  /// REQUIRES !empty().
  [[nodiscard]] ProcessorId first() const { return records_.front().id(); }
  [[nodiscard]] ProcessorId last() const { return records_.back().id(); }
  [[nodiscard]] Iterator begin() const { return Iterator(records_.begin()); }
  [[nodiscard]] Iterator end() const { return Iterator(records_.end()); }
  [[nodiscard]] Iterator find(ProcessorId id) const;
  /// The first whose id is not below, or above, `id`.
  [[nodiscard]] Iterator lower_bound(ProcessorId id) const;
  [[nodiscard]] Iterator upper_bound(ProcessorId id) const;
  [[nodiscard]] const std::vector<SharedMember>& records() const { return records_; }
  friend bool operator==(const Members&, const Members&) = default;

 private:
  std::vector<SharedMember> records_;
};

}  // namespace phx::runtime
