#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/network/known_network.h"

namespace phx::overlay {

/// Finds bandwidths: of interfaces in and out, of ways between sites, and who is slower than the
/// others of its site. Says what has to be measured for that. [overlay/survey/README.md]
///
/// A measurement tells what its narrowest place lets through, so each of its places is at least as
/// wide; the most that anybody measured over a place is its width. A pure value: no messages, no
/// time. Thread rule: one owner.
class RateFinder {
 public:
  /// One downloads from another one.
  struct Download {
    ProcessorId to;
    ProcessorId from;
    friend constexpr auto operator<=>(const Download&, const Download&) = default;
  };

  // Inputs.
  /// Goes on from a network that somebody else found.
  void begin(const KnownNetwork& network);
  void keep_only(const ProcessorSet& live);
  /// What a measurement told, in bytes per second: the rate is between these; 0: nothing.
  struct Rate {
    std::uint64_t at_least = 0;
    std::uint64_t at_most = 0;
    std::uint64_t taken = 0;  ///< By the receiver from all, at the same time.
    std::uint64_t sent = 0;   ///< By the sender to all; 0: not known.
  };
  /// A long measurement is over. True: it was doubted, and slow, and it is clear which of its ends
  /// is to blame.
  bool on_measured(const Download& download, const Rate& rate, const KnownNetwork& network);
  /// A short one, which is not believed: if it is not what is known, a long one has to follow.
  void on_glance(const Download& download, const Rate& rate, const KnownNetwork& network);

  /// Somebody finds it slow, whether it will be measured or not: of whom several say that is to
  /// blame.
  void on_witness(const Download& download);
  /// Somebody finds it much slower than known: both its ends are to be measured with others of
  /// their sites, and the way between two more of these, if it is one between sites. REQUIRES two
  /// processors.
  void on_complaint(const Download& download, const KnownNetwork& network);

  /// Ways that were measured in vain may be measured now, by others: after 1, 2, 4, 8 and each 16
  /// more patrols.
  void on_patrol() { ++patrols_; }

  // Queries.
  /// What has to be measured next: interfaces first, by pairs of which each has its own; then ways
  /// between sites, a few by each.
  [[nodiscard]] std::vector<Download> wanted(const KnownNetwork& network) const;
  /// So many are to be measured because they may not be as they were known.
  [[nodiscard]] std::size_t doubts() const { return doubted_.size(); }
  /// Whether it is so much slower than what `network` says that others' traffic is no reason.
  [[nodiscard]] static bool is_slow(const Download& download, const Rate& rate,
                                    const KnownNetwork& network);
  /// What `network` says of this; 0: nothing.
  [[nodiscard]] static std::uint64_t expected(const Download& download,
                                              const KnownNetwork& network);
  /// Adds all rates to `network`, which has sites. What differs little from `before` stays as it
  /// was, and so does what was not measured here.
  void fill(KnownNetwork& network, const KnownNetwork& before) const;

 private:
  /// Bytes per second at least; 0: not measured.
  struct Width {
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    std::uint32_t measured = 0;  ///< Times, inside the site.
  };
  using Sites = std::pair<std::size_t, std::size_t>;
  class Choice;

  void choose_in_site(const KnownNetwork::Site& site, Choice& choice) const;
  void choose_suspects(const KnownNetwork::Site& site, Choice& choice) const;
  [[nodiscard]] std::vector<Download> choose_ways(const KnownNetwork& network) const;
  void add_way(const Download& download, const Rate& rate, bool is_doubted,
               const KnownNetwork& network);
  [[nodiscard]] bool is_false_alarm(const Download& download, const Rate& rate,
                                    const KnownNetwork& network) const;
  [[nodiscard]] static bool has_company(const Download& download, const Rate& rate,
                                        const KnownNetwork& network);
  void note_partners(const Download& download);
  [[nodiscard]] bool is_doubted(const KnownNetwork& network, std::optional<std::size_t> to,
                                std::optional<std::size_t> from) const;
  [[nodiscard]] bool is_often_blamed(ProcessorId one) const;
  void keep_usual(const Download& download, const Rate& rate, const KnownNetwork& network);
  void fill_interfaces(KnownNetwork& network, const KnownNetwork& before) const;

  std::map<ProcessorId, Width> widths_;
  ProcessorSet rated_;             ///< Nothing has to be measured for them.
  std::map<Download, Rate> ways_;  ///< Between sites, few of each pair.
  enum class Doubt : std::uint8_t { kGlance, kComplaint };
  std::map<Download, Doubt> doubted_;  ///< To be measured again; the result counts.
  /// With whom somebody was found slow since nothing was doubted.
  std::map<ProcessorId, std::set<ProcessorId>> partners_;
  struct Asked {
    std::uint32_t times = 0;
    std::size_t until = 0;  ///< The patrol after which it may be measured again.
  };
  /// Ways that were measured, maybe in vain, since somebody came or left; by their sites' lowest.
  std::map<std::pair<ProcessorId, ProcessorId>, Asked> asked_;
  std::size_t patrols_ = 0;
};

}  // namespace phx::overlay
