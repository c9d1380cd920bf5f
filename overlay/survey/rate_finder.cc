#include "overlay/survey/rate_finder.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "overlay/rate_gauge.h"

namespace phx::overlay {
namespace {

/// Less than this of the others' bandwidth, or more than its inverse, is worth a word.
constexpr double kOdd = 0.5;
/// Whoever was odd stays so up to here.
constexpr double kStillOdd = 0.67;
/// Measurements of one thing differ by so much.
constexpr double kSame = 1.5;
/// Whoever sends much to others still sends so much of what it could.
constexpr double kPart = 0.125;
/// A way that is narrower by less than this may be as wide as the interfaces.
constexpr double kAsWide = 1.2;
/// Kept of one way between sites [limit].
constexpr std::size_t kKept = 3;
/// Whoever seems slow is measured with others until it was so many times.
constexpr std::uint32_t kChecks = 4;
/// Whoever is slow with so many others is to blame for it, and not these.
constexpr std::size_t kWitnesses = 2;
/// Ways that one processor measures, one after the other, in a run; and that it sends over.
constexpr std::size_t kWaysAtOnce = 8;
/// A glance that gives more than this of what is known, and less than all, may have met others'
/// traffic.
constexpr double kBusy = 0.25;

using Known = std::optional<std::uint64_t>;

bool differs(std::uint64_t one, std::uint64_t other, double factor) {
  const auto [less, more] = std::minmax({static_cast<double>(one), static_cast<double>(other)});
  return more > factor * less;
}

Known steady(const Known& before, std::uint64_t now) {
  return before && !differs(*before, now, kSame) ? *before : now;
}

/// Of the two bounds: neither is farther off than the other.
std::uint64_t middle(const RateFinder::Rate& rate) {
  return static_cast<std::uint64_t>(
      std::sqrt(static_cast<double>(rate.at_least) * static_cast<double>(rate.at_most)));
}

Known median(std::vector<std::uint64_t> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

/// What is measured at once: nobody measures two, or is measured by two.
class RateFinder::Choice {
 public:
  /// Unless one of the two is taken already.
  void take(const Download& wanted) {
    if (wanted.to == wanted.from || to_.contains(wanted.to) || from_.contains(wanted.from)) return;
    to_.insert(wanted.to);
    from_.insert(wanted.from);
    all_.push_back(wanted);
  }
  [[nodiscard]] std::vector<Download>& all() { return all_; }

 private:
  std::set<ProcessorId> to_;
  std::set<ProcessorId> from_;
  std::vector<Download> all_;
};

void RateFinder::begin(const KnownNetwork& network) {
  *this = {};
  if (!network.usual.in_bytes_per_second) return;
  rated_ = network.processors();
  for (const ProcessorId one : rated_.ids()) {
    const KnownNetwork::Ability ability = network.ability(one);
    widths_[one] = {ability.out_bytes_per_second.value_or(0),
                    ability.in_bytes_per_second.value_or(0), kChecks};
  }
}

void RateFinder::keep_only(const ProcessorSet& live) {
  rated_ = rated_.common(live);
  const auto is_gone = [&](const Download& one) {
    return !live.contains(one.to) || !live.contains(one.from);
  };
  std::erase_if(widths_, [&](const auto& one) { return !live.contains(one.first); });
  std::erase_if(ways_, [&](const auto& one) { return is_gone(one.first); });
  std::erase_if(doubted_, [&](const auto& one) { return is_gone(one.first); });
  for (auto& [one, partners] : partners_) {
    std::erase_if(partners, [&](ProcessorId partner) { return !live.contains(partner); });
  }
  std::erase_if(partners_, [&](const auto& one) { return !live.contains(one.first); });
  asked_.clear();
}

bool RateFinder::on_measured(const Download& download, const Rate& rate,
                             const KnownNetwork& network) {
  const bool is_vain = is_false_alarm(download, rate, network);
  const bool is_doubted = doubted_.erase(download) > 0;
  if (is_vain) return false;
  if (rate.at_most == 0) {  // Else each of them would be waited for.
    std::erase_if(doubted_, [&](const auto& one) { return one.first.from == download.from; });
  }
  const bool is_accompanied = has_company(download, rate, network);
  const auto to = network.site_of(download.to);
  const auto from = network.site_of(download.from);
  if (!to || !from) return false;
  if (*to == *from) {
    rated_.insert(download.to);
    rated_.insert(download.from);
  } else {
    constexpr std::uint32_t kTimesMost = 4;
    Asked& asked =
        asked_[{network.sites[*from].processors.front(), network.sites[*to].processors.front()}];
    asked.until = patrols_ + (std::size_t{1} << asked.times);
    asked.times = std::min(asked.times + 1, kTimesMost);
  }
  Width& sender = widths_[download.from];
  Width& receiver = widths_[download.to];
  if (*to == *from) {
    ++sender.measured;
    ++receiver.measured;
  }
  if (rate.at_most == 0) return false;
  // What was taken, and what came beside it, may have waited somewhere.
  const std::uint64_t usual_in = network.usual.in_bytes_per_second.value_or(0);
  const std::uint64_t passed = is_accompanied ? std::min(rate.at_least, usual_in) : rate.at_least;
  bool is_clear = false;
  if (is_accompanied) {
    keep_usual(download, rate, network);
  } else if (*to != *from) {
    add_way(download, rate, is_doubted, network);
  } else if (is_doubted) {
    // One of the two has changed: the one that is slow with several. Else others will tell.
    const bool is_found = is_slow(download, rate, network);
    if (is_found) note_partners(download);
    const bool is_sender = is_often_blamed(download.from);
    const bool is_receiver = is_often_blamed(download.to);
    is_clear = is_found && is_sender != is_receiver;
    if (is_sender || !is_receiver) sender = {passed, sender.in, 1};
    if (is_receiver || !is_sender) receiver = {receiver.out, passed, 1};
  }
  // Whatever else there was, so much has come through.
  const std::uint64_t taken = std::min(rate.taken, usual_in);
  sender.out = std::max(sender.out, passed);
  receiver.in = std::max({receiver.in, passed, taken});
  return is_clear;
}

/// Traffic was slow, and a measurement was not: all is as it was, unless somebody was blamed.
bool RateFinder::is_false_alarm(const Download& download, const Rate& rate,
                                const KnownNetwork& network) const {
  const auto found = doubted_.find(download);
  if (found == doubted_.end() || found->second == Doubt::kGlance) return false;
  if (rate.at_most == 0) return false;
  const std::uint64_t usual = std::min(network.usual.out_bytes_per_second.value_or(0),
                                       network.usual.in_bytes_per_second.value_or(0));
  const bool is_blamed =
      static_cast<double>(expected(download, network)) < kOdd * static_cast<double>(usual);
  return !is_blamed && !is_slow(download, rate, network) && !has_company(download, rate, network);
}

/// Others' traffic fills one of the interfaces, so the rate tells nothing. A sender that is busy
/// with few others still has a part for each.
bool RateFinder::has_company(const Download& download, const Rate& rate,
                             const KnownNetwork& network) {
  const auto fills = [&](std::uint64_t all, const Known& width) {
    return width && fills_beside(all, rate.at_least, *width);
  };
  return fills(rate.taken, network.ability(download.to).in_bytes_per_second) ||
         (fills(rate.sent, network.ability(download.from).out_bytes_per_second) &&
          static_cast<double>(rate.at_most) >
              kPart * static_cast<double>(expected(download, network)));
}

/// Slow with several others.
bool RateFinder::is_often_blamed(ProcessorId one) const {
  const auto found = partners_.find(one);
  return found != partners_.end() && found->second.size() >= kWitnesses;
}

/// Whose interfaces are not known yet has usual ones, as far as can be told. Whoever was blamed,
/// and is as fast as one can be beside others, is so no longer.
void RateFinder::keep_usual(const Download& download, const Rate& rate,
                            const KnownNetwork& network) {
  const std::uint64_t out = network.usual.out_bytes_per_second.value_or(0);
  const std::uint64_t in = network.usual.in_bytes_per_second.value_or(0);
  const auto part = kBusy * static_cast<double>(std::min(out, in));
  const bool is_part = static_cast<double>(rate.at_most) > part;
  const auto keep = [&](std::uint64_t& width, std::uint64_t usual) {
    if (width == 0 || is_part) width = std::max(width, usual);
  };
  keep(widths_[download.from].out, out);
  keep(widths_[download.to].in, in);
  for (const ProcessorId end : {download.to, download.from}) {
    Width& width = widths_[end];
    if (width.out == 0) width.out = out;
    if (width.in == 0) width.in = in;
  }
}

/// Of a way the last few count; if it was doubted, only this one.
void RateFinder::add_way(const Download& download, const Rate& rate, bool is_doubted,
                         const KnownNetwork& network) {
  const Sites way{*network.site_of(download.from), *network.site_of(download.to)};
  const ProcessorSet& senders = network.sites[way.first].processors;
  std::size_t kept = 0;
  for (const ProcessorId receiver : network.sites[way.second].processors.ids()) {
    auto at = ways_.lower_bound({receiver, ProcessorId{0}});
    while (at != ways_.end() && at->first.to == receiver) {
      const bool is_same = senders.contains(at->first.from);
      at = is_same && (is_doubted || ++kept >= kKept) ? ways_.erase(at) : std::next(at);
    }
  }
  ways_[download] = rate;
}

std::uint64_t RateFinder::expected(const Download& download, const KnownNetwork& network) {
  const Known in = network.ability(download.to).in_bytes_per_second;
  const Known out = network.ability(download.from).out_bytes_per_second;
  const Known way = network.way(download.from, download.to).bytes_per_second;
  std::uint64_t least = kUnlimited;
  for (const Known& rate : {in, out, way}) least = std::min(least, rate.value_or(least));
  return least == kUnlimited ? 0 : least;
}

void RateFinder::on_glance(const Download& download, const Rate& rate,
                           const KnownNetwork& network) {
  const auto known = static_cast<double>(expected(download, network));
  const bool is_faster = known > 0 && static_cast<double>(rate.at_least) * kOdd > known;
  if (!is_faster && !is_slow(download, rate, network)) return;
  if (doubted_.empty()) partners_.clear();
  doubted_[download] = Doubt::kGlance;
}

void RateFinder::on_witness(const Download& download) {
  if (doubted_.empty()) partners_.clear();
  note_partners(download);
}

void RateFinder::note_partners(const Download& download) {
  for (const auto& [one, partner] :
       {std::pair(download.to, download.from), std::pair(download.from, download.to)}) {
    std::set<ProcessorId>& partners = partners_[one];
    if (partners.size() < kWitnesses) partners.insert(partner);
  }
}

bool RateFinder::is_slow(const Download& download, const Rate& rate, const KnownNetwork& network) {
  const auto known = static_cast<double>(expected(download, network));
  return rate.at_most > 0 && static_cast<double>(rate.at_most) < kBusy * known &&
         !has_company(download, rate, network);
}

/// By others of their sites, so that who complains falsely proves nothing, and because their links
/// are not full of what the complaint is about.
void RateFinder::on_complaint(const Download& download, const KnownNetwork& network) {
  const auto [to, from] = download;
  const auto to_site = network.site_of(to);
  const auto from_site = network.site_of(from);
  // Of its site the next one, and one that hardly is next to others with complaints; itself where
  // there is nobody else.
  struct Mates {
    ProcessorId next;
    ProcessorId across;
  };
  const auto mates = [&](std::optional<std::size_t> site, ProcessorId of, ProcessorId but) {
    if (!site) return Mates{of, of};
    std::vector<ProcessorId> ring = network.sites[*site].processors.ids();
    std::rotate(ring.begin(), std::ranges::upper_bound(ring, of), ring.end());
    std::erase_if(ring, [&](ProcessorId one) { return one == of || one == but; });
    // With one that is slow nothing can be told.
    const auto is_odd = [&](ProcessorId one) { return network.odd.contains(one); };
    if (!std::ranges::all_of(ring, is_odd)) std::erase_if(ring, is_odd);
    if (ring.empty()) return Mates{of, of};
    return Mates{ring.front(), ring[ring.size() / 2]};
  };
  const auto doubt = [&](const Download& one) {
    if (one.to != one.from) doubted_.try_emplace(one, Doubt::kComplaint);
  };
  const Mates of_to = mates(to_site, to, from);
  const Mates of_from = mates(from_site, from, to);
  doubt({to, of_to.next});
  doubt({of_from.next, from});
  if (to_site == from_site) {
    if (of_to.next == to) doubt(download);
  } else if (!is_doubted(network, to_site, from_site)) {
    doubt({of_to.across, of_from.across});
  }
}

/// A way between the two, in this direction.
bool RateFinder::is_doubted(const KnownNetwork& network, std::optional<std::size_t> to,
                            std::optional<std::size_t> from) const {
  return std::ranges::any_of(doubted_, [&](const auto& entry) {
    return network.site_of(entry.first.to) == to && network.site_of(entry.first.from) == from;
  });
}

std::vector<RateFinder::Download> RateFinder::wanted(const KnownNetwork& network) const {
  Choice choice;
  // Interfaces before ways, because what a way lets through is told from its ends.
  for (const bool is_way : {false, true}) {
    for (const auto& [one, why] : doubted_) {
      const bool is_between = network.site_of(one.to) != network.site_of(one.from);
      if (is_between == is_way) choice.take(one);
    }
  }
  for (const KnownNetwork::Site& site : network.sites) choose_in_site(site, choice);
  for (const KnownNetwork::Site& site : network.sites) choose_suspects(site, choice);
  return choice.all().empty() ? choose_ways(network) : std::move(choice.all());
}

/// Each from the next one, so everybody receives once and sends once.
void RateFinder::choose_in_site(const KnownNetwork::Site& site, Choice& choice) const {
  const std::vector<ProcessorId> members = site.processors.ids();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ProcessorId next = members[(i + 1) % members.size()];
    if (!rated_.contains(members[i]) || !rated_.contains(next)) choice.take({members[i], next});
  }
}

/// A slow measurement blames both ends. Whoever is fast with another partner is not to blame.
void RateFinder::choose_suspects(const KnownNetwork::Site& site, Choice& choice) const {
  std::vector<std::pair<ProcessorId, Width>> measured;
  std::vector<std::uint64_t> outs;
  std::vector<std::uint64_t> ins;
  for (const ProcessorId one : site.processors.ids()) {
    const auto found = widths_.find(one);
    if (found == widths_.end() || found->second.out == 0 || found->second.in == 0) continue;
    measured.emplace_back(one, found->second);
    outs.push_back(found->second.out);
    ins.push_back(found->second.in);
  }
  if (measured.size() < 3) return;
  const double out_least = kOdd * static_cast<double>(*median(outs));
  const double in_least = kOdd * static_cast<double>(*median(ins));
  const auto sends_slowly = [&](const Width& w) { return static_cast<double>(w.out) < out_least; };
  const auto takes_slowly = [&](const Width& w) { return static_cast<double>(w.in) < in_least; };
  for (const auto& [suspect, width] : measured) {
    if (width.measured >= kChecks || (!takes_slowly(width) && !sends_slowly(width))) continue;
    for (const auto& [other, its] : measured) {
      const bool is_good = !sends_slowly(its) && !takes_slowly(its);
      if (!is_good) continue;
      if (takes_slowly(width)) choice.take({suspect, other});
      if (sends_slowly(width)) choice.take({other, suspect});
    }
  }
}

/// Each site asks the next one first, then the one behind it, and so on; its members take turns. So
/// at any time few measure the same one.
std::vector<RateFinder::Download> RateFinder::choose_ways(const KnownNetwork& network) const {
  const std::size_t sites = network.sites.size();
  std::map<ProcessorId, std::size_t> asked;
  std::map<ProcessorId, std::size_t> serving;
  std::vector<Download> chosen;
  const auto pick = [&](const KnownNetwork::Site& site, std::size_t turn) {
    const std::vector<ProcessorId> members = site.processors.ids();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const ProcessorId one = members[(turn + patrols_ + i) % members.size()];
      if (!network.odd.contains(one)) return one;
    }
    return members[(turn + patrols_) % members.size()];
  };
  for (std::size_t turn = 1; turn < sites; ++turn) {
    for (std::size_t to = 0; to < sites; ++to) {
      const std::size_t from = (to + turn) % sites;
      const auto known = network.between.find({from, to});
      if (known != network.between.end() && known->second.bytes_per_second) continue;
      const Download way{pick(network.sites[to], turn), pick(network.sites[from], turn)};
      const std::pair lowest{network.sites[from].processors.front(),
                             network.sites[to].processors.front()};
      const auto before = asked_.find(lowest);
      if (before != asked_.end() && patrols_ < before->second.until) continue;
      if (asked[way.to] == kWaysAtOnce || serving[way.from] == kWaysAtOnce) continue;
      ++asked[way.to];
      ++serving[way.from];
      chosen.push_back(way);
    }
  }
  return chosen;
}

/// Of a long way only much less than the interfaces let through can be told from their width: it is
/// as wide as these, unless it was slower for sure. What was measured by somebody slow is a lower
/// bound if its site has better ones, and the answer if it has none.
void RateFinder::fill(KnownNetwork& network, const KnownNetwork& before) const {
  fill_interfaces(network, before);
  const std::uint64_t usual = std::min(network.usual.out_bytes_per_second.value_or(kUnlimited),
                                       network.usual.in_bytes_per_second.value_or(kUnlimited));
  std::set<std::size_t> with_usual;  // Sites.
  for (std::size_t i = 0; i < network.sites.size(); ++i) {
    const auto is_odd = [&](ProcessorId one) { return network.odd.contains(one); };
    if (!std::ranges::all_of(network.sites[i].processors.ids(), is_odd)) with_usual.insert(i);
  }
  std::map<Sites, std::uint64_t> widest;
  std::map<Sites, std::uint64_t> at_least;
  for (const auto& [download, rate] : ways_) {
    const auto from = network.site_of(download.from);
    const auto to = network.site_of(download.to);
    if (!from || !to || *from == *to) continue;
    const bool is_narrow = kAsWide * static_cast<double>(rate.at_most) < static_cast<double>(usual);
    const bool has_better = (network.odd.contains(download.to) && with_usual.contains(*to)) ||
                            (network.odd.contains(download.from) && with_usual.contains(*from));
    std::uint64_t& known = (is_narrow && has_better ? at_least : widest)[{*from, *to}];
    known = std::max(known, is_narrow ? middle(rate) : std::max(rate.at_least, usual));
  }
  for (std::size_t from = 0; from < network.sites.size(); ++from) {
    for (std::size_t to = 0; to < network.sites.size(); ++to) {
      if (from == to) continue;
      const Known old =
          before.way(network.sites[from].processors.front(), network.sites[to].processors.front())
              .bytes_per_second;
      const auto found = widest.find({from, to});
      const auto bound = at_least.find({from, to});
      Known rate = found == widest.end() ? old : steady(old, found->second);
      if (!rate && bound != at_least.end()) rate = bound->second;
      if (rate && *rate != kUnlimited) network.between[{from, to}].bytes_per_second = rate;
    }
  }
}

void RateFinder::fill_interfaces(KnownNetwork& network, const KnownNetwork& before) const {
  KnownNetwork::Ability& usual = network.usual;
  std::vector<std::uint64_t> outs;
  std::vector<std::uint64_t> ins;
  for (const auto& [processor, width] : widths_) {
    if (width.out > 0) outs.push_back(width.out);
    if (width.in > 0) ins.push_back(width.in);
  }
  const Known out = median(std::move(outs));
  const Known in = median(std::move(ins));
  const Known was_out = before.usual.out_bytes_per_second;
  const Known was_in = before.usual.in_bytes_per_second;
  usual.out_bytes_per_second = out ? steady(was_out, *out) : was_out;
  usual.in_bytes_per_second = in ? steady(was_in, *in) : was_in;
  if (!usual.out_bytes_per_second || !usual.in_bytes_per_second) return;
  for (const KnownNetwork::Site& site : network.sites) {
    if (site.processors.size() < 2) continue;  // Its ways say the same.
    for (const ProcessorId processor : site.processors.ids()) {
      const auto old = before.odd.find(processor);
      const bool was_odd = old != before.odd.end();
      const auto found = widths_.find(processor);
      if (found == widths_.end() || found->second.out == 0 || found->second.in == 0) {
        if (was_odd) network.odd[processor] = old->second;
        continue;
      }
      const double factor = 1 / (was_odd ? kStillOdd : kOdd);
      const Width& width = found->second;
      if (!differs(width.out, *usual.out_bytes_per_second, factor) &&
          !differs(width.in, *usual.in_bytes_per_second, factor)) {
        continue;
      }
      const KnownNetwork::Ability former = was_odd ? old->second : KnownNetwork::Ability{};
      network.odd[processor] = {std::nullopt, steady(former.out_bytes_per_second, width.out),
                                steady(former.in_bytes_per_second, width.in)};
    }
  }
}

}  // namespace phx::overlay
