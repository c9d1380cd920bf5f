#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/vnodes/policy.h"

// Whom to ask for vnodes: wanted(). Many who come together know the same loads, so each deals out
// to all who have too little, and asks for what it has dealt to itself.
namespace phx::runtime {
namespace {

using Loads = std::vector<std::pair<ProcessorId, std::uint64_t>>;
using Sites = std::map<ProcessorId, std::size_t>;  ///< As far as they are known.

Sites sites_of(const overlay::KnownNetwork* network) {
  Sites sites;
  if (network == nullptr) return sites;
  for (std::size_t site = 0; site < network->sites.size(); ++site) {
    for (const ProcessorId id : network->sites[site].processors.ids()) sites.emplace(id, site);
  }
  return sites;
}

std::optional<std::size_t> site_of(ProcessorId processor, const Sites& sites) {
  const auto found = sites.find(processor);
  return found == sites.end() ? std::nullopt : std::optional(found->second);
}

/// Members that have more than so many vnodes, those with most first.
std::vector<Load> donors(const Loads& loads, std::uint64_t more_than, const Standing& standing) {
  std::vector<Load> donors;
  for (const auto& [processor, load] : loads) {
    if (load > more_than && standing.members.contains(processor)) {
      donors.push_back({load, processor});
    }
  }
  std::sort(donors.begin(), donors.end(), [](const Load& a, const Load& b) {
    return a.vnodes != b.vnodes ? a.vnodes > b.vnodes : a.processor < b.processor;
  });
  return donors;
}

/// What some lack, and what those before a certain one of them do, in the order of ids.
struct Lack {
  std::uint64_t all = 0;
  std::uint64_t before = 0;
  std::uint64_t poor_before = 0;  ///< How many these are.
};

/// What is lacked by processors that have less than their share; by site, and of those in none.
class Lacks {
 public:
  /// `self`: what it lacks, which it knows better than the loads.
  Lacks(const Load& self, std::uint64_t fair, const Loads& loads, const ProcessorSet& ready,
        const Sites& sites) {
    auto at = loads.begin();  // Both are in the order of ids.
    for (const ProcessorId id : ready.ids()) {
      while (at != loads.end() && at->first < id) ++at;
      const std::uint64_t load = at != loads.end() && at->first == id ? at->second : 0;
      const bool is_self = id == self.processor;
      if (!is_self && load >= fair) continue;
      Lack& lack = lacks_[site_of(id, sites)];
      lack.all += is_self ? self.vnodes : fair - load;
      if (id >= self.processor) continue;
      lack.before += fair - load;
      ++lack.poor_before;
    }
  }

  [[nodiscard]] Lack of(std::optional<std::size_t> site) const {
    const auto found = lacks_.find(site);
    return found == lacks_.end() ? Lack{} : found->second;
  }
  [[nodiscard]] Lack sum() const {
    Lack sum;
    for (const auto& [site, lack] : lacks_) {
      sum.all += lack.all;
      sum.before += lack.before;
      sum.poor_before += lack.poor_before;
    }
    return sum;
  }

 private:
  std::map<std::optional<std::size_t>, Lack> lacks_;
};

/// Goes along what donors have to give: `skip` of it is for others, then `count` is wanted.
struct Round {
  std::uint64_t skip = 0;
  std::uint64_t count = 0;

  /// What of these is wanted.
  std::uint64_t take(std::uint64_t vnodes) {
    const std::uint64_t skipped = std::min(skip, vnodes);
    skip -= skipped;
    const std::uint64_t taken = std::min(count, vnodes - skipped);
    count -= taken;
    return taken;
  }
};

/// Shares are small, and exact: what is missing comes from those with more, first in its own site.
class ExactDeal {
 public:
  /// REQUIRES that `all` have more than their share.
  ExactDeal(std::uint64_t fair, const std::vector<Load>& all, const Sites& sites) {
    for (const Load& donor : all) {
      gifts_.push_back({donor.processor, site_of(donor.processor, sites), donor.vnodes - fair});
    }
  }

  std::vector<Load> deal(const Load& self, std::optional<std::size_t> site, const Lacks& lacks) && {
    Round own{lacks.of(site).before, self.vnodes};
    std::map<std::size_t, std::uint64_t> given;
    for (Gift& gift : gifts_) {
      if (!gift.site) continue;
      std::uint64_t& so_far = given[*gift.site];
      const std::uint64_t part = std::min(gift.vnodes, lacks.of(gift.site).all - so_far);
      if (gift.site == site) pull(gift.donor, own.take(part));
      so_far += part;
      gift.rest = gift.vnodes - part;
    }
    std::uint64_t before = lacks.sum().before;  // What they do not find in their sites.
    for (const auto& [where, vnodes] : given) before -= std::min(vnodes, lacks.of(where).before);
    std::uint64_t rest = 0;
    for (const Gift& gift : gifts_) rest += gift.rest;
    if (rest == 0) {  // Nobody has anything left, as far as is known here.
      for (Gift& gift : gifts_) rest += gift.rest = gift.vnodes;
    }
    Round others{rest == 0 ? 0 : before % rest, own.count};
    for (const Gift& gift : gifts_) pull(gift.donor, others.take(gift.rest));
    return std::move(pulls_);
  }

 private:
  struct Gift {
    ProcessorId donor;
    std::optional<std::size_t> site;
    std::uint64_t vnodes = 0;
    std::uint64_t rest = vnodes;  ///< For those of other sites.
  };

  void pull(ProcessorId donor, std::uint64_t vnodes) {
    if (vnodes == 0) return;
    const auto known = std::ranges::find(pulls_, donor, &Load::processor);
    if (known == pulls_.end()) {
      pulls_.push_back({vnodes, donor});
    } else {
      known->vnodes += vnodes;
    }
  }

  std::vector<Gift> gifts_;
  std::vector<Load> pulls_;
};

}  // namespace

std::vector<Load> wanted(const Stock& stock, const VnodeMap& map, const Standing& standing) {
  const std::uint64_t fair = fair_share(map, standing.ready.size());
  const Gaps gaps = gaps_of(fair);
  const std::uint64_t mine = stock.own.size() + stock.incoming;
  const std::uint64_t missing = mine < fair ? fair - mine : 0;
  if (gaps.are_none() && missing == 0)
    return {};  // In a large mesh the loads of all are much to ask.
  const Loads loads = map.loads();
  const std::vector<Load> all = donors(loads, gaps.are_none() ? fair : 0, standing);
  if (gaps.are_none() && all.empty()) return {};
  const Load self{missing, stock.self};
  if (gaps.are_none()) {
    const Sites sites = sites_of(standing.network);
    const Lacks lacks(self, fair, loads, standing.ready, sites);
    return ExactDeal(fair, all, sites).deal(self, site_of(stock.self, sites), lacks);
  }
  ProcessorSet beside;
  for (const auto& range : stock.own.ranges()) {
    for (const ProcessorId owner : map.beside(range)) beside.insert(owner);
  }
  std::vector<Load> pulls;
  // Where a border can be moved, no run comes into being. Who is very short takes what it gets.
  const std::uint64_t least = missing > gaps.far ? gaps.beside / 4 + 1 : gaps.beside;
  for (const Load& donor : all) {
    const bool has_more = beside.contains(donor.processor) && donor.vnodes > mine + least;
    if (has_more && pulls.empty()) pulls.push_back({(donor.vnodes - mine) / 2, donor.processor});
  }
  if (!pulls.empty()) return pulls;
  // Along many borders differences of one add up; of large shares that is little.
  constexpr std::uint64_t kManyBorders = 4;
  const bool is_far_below =
      missing > 0 && gaps.beside == 1 && !all.empty() && all.front().vnodes > mine + kManyBorders;
  if (missing <= gaps.far && !is_far_below) return pulls;
  // Elsewhere only if much is missing: it is a run more, and borders that can be moved then.
  const Sites sites = sites_of(standing.network);
  const auto site = site_of(stock.self, sites);
  const Lacks lacks(self, fair, loads, standing.ready, sites);
  std::vector<Load> rich, near;
  std::uint64_t surplus = 0;
  for (const Load& donor : all) {
    if (donor.vnodes <= mine + gaps.beside) break;
    rich.push_back(donor);
    if (!site || site_of(donor.processor, sites) != site) continue;
    near.push_back(donor);
    surplus += donor.vnodes > fair ? donor.vnodes - fair : 0;
  }
  const bool is_near = !near.empty() && surplus >= lacks.of(site).all;
  const std::vector<Load>& asked = is_near ? near : rich;
  const Lack lack = is_near ? lacks.of(site) : lacks.sum();
  if (asked.empty()) return pulls;
  const Load& donor = asked[lack.poor_before % asked.size()];
  pulls.push_back({std::min(missing, (donor.vnodes - mine) / 2), donor.processor});
  return pulls;
}

}  // namespace phx::runtime
