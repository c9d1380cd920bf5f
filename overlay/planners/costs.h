#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "overlay/network/known_network.h"

namespace phx::planners {

/// Longer messages pass a network in segments of this size, stage by stage.
inline constexpr std::uint64_t kNetworkSegment = 65536;

/// A known network in numbers, as planners want it: processors are positions 0..size()-1 in the
/// order of their ids, looked up once; and what is not known is taken for the worst that is known
/// [overlay/planners/README.md]. Immutable.
class Costs {
 public:
  /// REQUIRES a network whose check() succeeds.
  explicit Costs(const overlay::KnownNetwork& network);

  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] ProcessorId id(std::size_t i) const { return ids_[i]; }
  [[nodiscard]] std::optional<std::size_t> position(ProcessorId id) const;
  /// Positions by site, in the order of ids. Who is in no site is a site of its own.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& sites() const { return members_; }
  [[nodiscard]] std::size_t site(std::size_t i) const { return processors_[i].site; }
  /// Processors of one class have the same costs to all others.
  [[nodiscard]] std::size_t classes() const { return kinds_.size(); }
  [[nodiscard]] std::size_t class_of(std::size_t i) const { return processors_[i].kind; }

  /// One way.
  [[nodiscard]] Duration latency(std::size_t from, std::size_t to) const;
  /// Of the farthest two, there and back.
  [[nodiscard]] Duration longest() const;
  /// Bytes per second between the two interfaces.
  [[nodiscard]] std::uint64_t rate(std::size_t from, std::size_t to) const;
  [[nodiscard]] std::uint64_t out(std::size_t i) const { return kind(i).out; }
  [[nodiscard]] std::uint64_t in(std::size_t i) const { return kind(i).in; }
  /// What it can pass on.
  [[nodiscard]] std::uint64_t width(std::size_t i) const { return std::min(in(i), out(i)); }
  [[nodiscard]] Duration overhead(std::size_t i) const { return kind(i).overhead; }
  /// What comes waits so long there before it is passed on.
  [[nodiscard]] Duration wait(std::size_t i) const { return kind(i).wait; }

  /// How long `i` is kept from sending the next message.
  [[nodiscard]] Duration busy(std::size_t i, std::uint64_t bytes) const;
  /// From the moment at which `from` begins to send until `to` has it, with nothing in the way.
  [[nodiscard]] Duration transfer(std::size_t from, std::size_t to, std::uint64_t bytes) const;

 private:
  /// Every daemon of a mesh has these of all others: what is equal in a class is kept once.
  struct Processor {
    std::uint32_t site = 0;
    std::uint32_t kind = 0;
  };
  struct Kind {
    Duration overhead{};
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    Duration wait{};
  };
  struct Way {
    Duration latency{};
    std::uint64_t bytes_per_second = 0;
  };

  void read_processors(const overlay::KnownNetwork& network);
  void read_ways(const overlay::KnownNetwork& network);
  [[nodiscard]] const Way& way(std::size_t from, std::size_t to) const;
  [[nodiscard]] const Kind& kind(std::size_t i) const { return kinds_[processors_[i].kind]; }

  std::vector<ProcessorId> ids_;
  std::vector<Processor> processors_;
  std::vector<Kind> kinds_;                        ///< Per class.
  std::vector<std::vector<std::size_t>> members_;  ///< Per site.
  std::vector<Way> ways_;                          ///< Sites x sites.
  std::map<std::pair<std::size_t, std::size_t>, Way> pairs_;
};

/// Time for so many bytes.
[[nodiscard]] Duration wire_time(std::uint64_t bytes, std::uint64_t bytes_per_second);

}  // namespace phx::planners
