#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/api/reader.h"
#include "runtime/api/session.h"
#include "runtime/api/values.h"
#include "runtime/api/writer.h"

namespace phx {

/// One object for each vnode held here, which moves with its vnode. It says what its state is in
/// one place, for both directions:
///
///     struct Block {
///       std::vector<double> cells;
///       void state(auto& io) { io(cells); }
///     };
///     phx::Objects<Block> blocks(job, [&](phx::Vnode v) { return Block{cells_of(v)}; });
///
/// `make` is called on a vnode's very first arrival anywhere. On later ones a T is default-made (or
/// made by `make`, if it cannot be) and its state is read. Plain types and all that a Writer takes
/// need no state(). Make it before the first safe point, and keep it as long as there are some.
/// Thread rule: as of the session's safe points.
template <class T>
class Objects {
 public:
  using Make = std::function<T(Vnode)>;

  explicit Objects(Session& job) : Objects(job, Make(&made_by_default)) {}
  Objects(Session& job, Make make) : make_(std::move(make)) {
    job.add_state({[this](Vnode v) { return depart(v); },
                   [this](Vnode v, const std::optional<Payload>& state) { arrive(v, state); }});
  }
  ~Objects() = default;
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  // Pairs of vnode and object, by ascending vnode. A safe point invalidates what has left.
  [[nodiscard]] auto begin() { return objects_.begin(); }
  [[nodiscard]] auto end() { return objects_.end(); }
  [[nodiscard]] std::size_t size() const { return objects_.size(); }
  [[nodiscard]] bool contains(Vnode v) const { return objects_.contains(v); }
  /// Throws Failure (kBadInput) if `v` is not held here.
  [[nodiscard]] T& operator[](Vnode v) {
    const auto at = objects_.find(v);
    if (at != objects_.end()) return at->second;
    throw Failure(ErrorCode::kBadInput, "there is no object of v" + std::to_string(v) +
                                            " here: it is not held by this process, or has not "
                                            "arrived at a safe point");
  }

 private:
  static T made_by_default(Vnode v) {
    if constexpr (std::is_class_v<T> && !std::is_aggregate_v<T> &&
                  std::is_constructible_v<T, Vnode> && !Sequence<T>) {
      return T(v);
    } else {
      return T{};
    }
  }
  Payload depart(Vnode v) {
    const auto at = objects_.find(v);
    Writer out;
    out(at->second);
    objects_.erase(at);
    return Payload(out.take());
  }
  void arrive(Vnode v, const std::optional<Payload>& state) {
    if (!state) {
      objects_.emplace(v, make_(v));
      return;
    }
    Reader in(state->bytes());
    try {
      if constexpr (std::is_default_constructible_v<T>) {
        in(objects_[v]);
      } else {
        in(objects_.emplace(v, make_(v)).first->second);
      }
    } catch (const Failure& failure) {
      throw misfit(v, "is not what its state() reads (" + std::string(failure.what()) + ")");
    }
    if (in.left() > 0) {
      throw misfit(v, "has " + std::to_string(in.left()) + " bytes more than its state() reads");
    }
  }
  static Failure misfit(Vnode v, const std::string& why) {
    return {ErrorCode::kBadInput, "the state of v" + std::to_string(v) + " " + why +
                                      ": that must name the same members for a Writer and for a "
                                      "Reader"};
  }

  Make make_;
  std::map<Vnode, T> objects_;
};

}  // namespace phx
