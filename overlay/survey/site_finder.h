#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/network/known_network.h"

namespace phx::overlay {

struct SiteFinderOptions {
  /// Whoever is so near to a landmark is of its site, and whoever is farther than the other is not;
  /// between them, up to three times the nearest that either of the two knows.
  Duration near_least = 200us;
  Duration near_most = 1ms;
  /// As far apart may a newcomer and its site seem where rows stand in front of interfaces
  /// (on_look()), if no other site is near.
  Duration near_busy = 3ms;
  /// Above it, processors join the nearest site however far it is [limit].
  std::size_t sites_max = 64;
  /// Round trips kept per pair of sites, and per site [limit].
  std::size_t samples_max = 64;
};

/// Finds sites by leader clustering: round trips to *landmarks*, one processor of each site, tell
/// of whom a site consists and how far it is from the others. [overlay/survey/README.md]
///
/// A pure value: no messages, no time. A landmark is the lowest id of its site, so it needs no
/// agreement. Bounded by sites_max squared, and by what one round brings. Thread rule: one owner.
class SiteFinder {
 public:
  /// Two processors and their round trip.
  struct Sample {
    ProcessorId from;
    ProcessorId to;
    Duration round_trip{};
  };

  explicit SiteFinder(const SiteFinderOptions& options) : options_(options) {}

  // Inputs.
  /// Goes on from a network that somebody else found. What is in `network.pairs` is not kept.
  void begin(const KnownNetwork& network);
  void keep_only(const ProcessorSet& live);
  /// Each is of those that run on one machine: one site, whatever is measured between them, and to
  /// others as far as the nearest measurement by any of them. Who is in none is on its own.
  void on_machines(const std::vector<ProcessorSet>& machines);
  /// A round is over: everybody of `measured` has measured, in this round or an earlier one of
  /// `samples`, all landmarks and all `candidates` before itself. Places whoever is near a
  /// landmark; candidates that are not are landmarks.
  void on_round(const std::vector<ProcessorId>& candidates, const ProcessorSet& measured,
                const std::vector<Sample>& samples);
  /// Some of sites that are new, those without anybody of `older`, have measured several members
  /// of others. Who is near by any of these joins that site. So does, while rows stand in front of
  /// some (a quarter of the round trips are 1.5 times the shortest), who is within `near_busy` of
  /// an older site, and within 3/4 of the way from there to its nearest older one.
  void on_look(const std::vector<Sample>& samples, const ProcessorSet& older);
  /// Time of a processor for a message, as several measured it. What differs little is no news.
  void on_overheads(std::vector<Duration> overheads);
  /// Some who were placed measured again. True: a way is another one now. Longer ways are believed
  /// when two measurements of them in a row say so, shorter ones at once. Sites that are near are
  /// one.
  bool on_again(const std::vector<Sample>& samples);

  // Queries.
  [[nodiscard]] std::vector<ProcessorId> landmarks() const;
  [[nodiscard]] ProcessorSet placed() const;
  /// A position in network().sites; empty: it is in none.
  [[nodiscard]] std::optional<std::size_t> site_of(ProcessorId processor) const;
  [[nodiscard]] std::size_t sites() const { return sites_.size(); }
  /// Latencies are one way and without overhead.
  [[nodiscard]] KnownNetwork network() const;

 private:
  using Pair = std::pair<ProcessorId, ProcessorId>;
  using Sites = std::pair<std::size_t, std::size_t>;  ///< Positions, the lower one first.
  struct Site {
    ProcessorSet processors;
    std::optional<Duration> round_trip;  ///< Between two of them.
  };
  /// What members of two sites have measured of each other.
  struct Look {
    std::vector<Duration> round_trips;  ///< Ascending.
    bool is_near = false;               ///< One of them is.
    [[nodiscard]] bool has_rows() const;
  };
  struct Joinable {
    Sites pair;
    Duration least{};  ///< Measured between them.
    bool is_near = false;
  };

  [[nodiscard]] ProcessorId speaker(ProcessorId processor) const;
  [[nodiscard]] std::optional<std::size_t> site_at(ProcessorId speaker) const;
  void place(ProcessorId processor, std::size_t site);
  [[nodiscard]] std::optional<std::size_t> nearest(ProcessorId processor, bool however_far) const;
  [[nodiscard]] Duration near(ProcessorId one, ProcessorId other) const;
  void read(const std::vector<Sample>& samples);
  /// What the samples say of sites, and of ways between them.
  [[nodiscard]] std::map<Sites, Duration> distances() const;
  [[nodiscard]] bool knows_all_landmarks(ProcessorId candidate) const;
  /// What the samples say is known from now on, but for ways that got longer just now. True: it is
  /// not what was known. They are forgotten.
  bool adopt();
  [[nodiscard]] std::optional<Duration> between(const Sites& pair) const;
  void learn(const Sites& pair, Duration distance);
  [[nodiscard]] bool are_near(const Sites& pair) const;
  [[nodiscard]] std::map<Sites, Look> between_sites(const std::vector<Sample>& samples) const;
  [[nodiscard]] static std::map<Sites, Look> after_join(std::map<Sites, Look> looks,
                                                        const Sites& pair);
  [[nodiscard]] std::optional<Joinable> joinable(const std::map<Sites, Look>& measured,
                                                 const ProcessorSet& older) const;
  void join(const Sites& pair);
  void forget_empty();

  SiteFinderOptions options_;
  std::vector<Site> sites_;
  std::map<Sites, Duration> between_;
  std::map<Sites, Duration> longer_;  ///< What was measured once, the last time.
  std::optional<Duration> overhead_;
  /// Of those that share a machine: the lowest one of it.
  std::map<ProcessorId, ProcessorId> speakers_;
  // Of the round under way, between machines: by the speakers of those that share one.
  std::map<Pair, Duration> round_trips_;
  std::map<ProcessorId, Duration> best_;         ///< The nearest that each knows.
  std::map<ProcessorId, std::size_t> machines_;  ///< Where somebody of a shared one is placed.
};

}  // namespace phx::overlay
