#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/vnodes/policy.h"
#include "tests/support/seeds.h"

namespace phx::runtime::pulls_test {
namespace {

using Totals = std::map<ProcessorId, std::uint64_t>;

/// Processors of some sites, and how many vnodes each of them has.
struct Job {
  overlay::KnownNetwork network;
  Totals loads;
  ProcessorId outsider{0};

  ProcessorId add(std::size_t site, std::uint64_t load) {
    if (network.sites.size() <= site) network.sites.resize(site + 1);
    const ProcessorId id{static_cast<std::uint32_t>(loads.size()) + 1};
    network.sites[site].processors.insert(id);
    loads[id] = load;
    return id;
  }
  [[nodiscard]] std::uint64_t vnodes() const {
    std::uint64_t sum = 0;
    for (const auto& [id, load] : loads) sum += load;
    return sum;
  }
  /// What everybody asks for who has too little, all at once; by who asks.
  [[nodiscard]] std::map<ProcessorId, std::vector<Load>> ask(bool is_known = true) const {
    VnodeMap map(vnodes(), {ProcessorId{1}});
    std::uint64_t next = 0;
    std::map<ProcessorId, VnodeSet> own;
    for (const auto& [id, load] : loads) {
      if (load == 0) continue;
      own[id] = VnodeSet::range(VnodeId{next}, VnodeId{next + load - 1});
      map.learn({own[id], id, 2});
      next += load;
    }
    ProcessorSet all;
    for (const auto& [id, load] : loads) all.insert(id);
    std::map<ProcessorId, std::vector<Load>> result;
    for (const auto& [id, load] : loads) {
      const Standing standing{.ready = all,
                              .members = all.minus(ProcessorSet{id, outsider}),
                              .network = is_known ? &network : nullptr};
      auto pulls = wanted({id, own[id], 0}, map, standing);
      if (!pulls.empty()) result[id] = std::move(pulls);
    }
    return result;
  }
};

/// Vnodes asked of each donor, and how many of all would change their site.
struct Asked {
  Totals of;
  std::uint64_t far = 0;
  std::uint64_t all = 0;

  Asked(const Job& job, const std::map<ProcessorId, std::vector<Load>>& pulls) {
    for (const auto& [id, loads] : pulls) {
      for (const Load& pull : loads) {
        of[pull.processor] += pull.vnodes;
        all += pull.vnodes;
        if (job.network.site_of(pull.processor) != job.network.site_of(id)) far += pull.vnodes;
      }
    }
  }
};

}  // namespace

TEST_SUITE_BEGIN("runtime/pulls");

TEST_CASE(
    "as many come to each site as are there: each asks one of its own site, nobody is asked "
    "twice") {
  for (const std::uint64_t each : {4U, 16U, 64U}) {
    CAPTURE(each);
    Job job;
    for (std::uint64_t i = 0; i < each; ++i) {
      for (std::size_t site = 0; site < 3; ++site) job.add(site, 2);
    }
    for (std::uint64_t i = 0; i < 3 * each; ++i) job.add(i / each, 0);

    const Asked asked(job, job.ask());

    CHECK(asked.all == 3 * each);
    CHECK(asked.far == 0);
    CHECK(asked.of.size() == 3 * each);
  }
}

TEST_CASE(
    "exact shares: nobody is asked for more than it has, and as little as can be changes its "
    "site") {
  for (std::uint64_t seed = 1; seed <= support::seeds(200); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Job job;
    const std::uint64_t fair = 1 + rng.below(6);
    const std::uint64_t processors = 2 + rng.below(40);
    std::uint64_t missing = 0;  // So that all together have their share.
    for (std::uint64_t i = 0; i < processors; ++i) {
      const bool is_poor = i % 2 == 0;
      const std::uint64_t change = is_poor ? 1 + rng.below(fair) : missing;
      job.add(rng.below(4), is_poor ? fair - change : fair + change);
      missing = is_poor ? change : 0;
    }
    if (missing > 0) job.add(0, fair + missing);

    const Asked asked(job, job.ask());

    std::map<std::size_t, std::uint64_t> lacks, surplus;
    std::uint64_t all = 0, far = 0;
    for (const auto& [id, load] : job.loads) {
      const std::size_t site = *job.network.site_of(id);
      if (load < fair) lacks[site] += fair - load;
      if (load < fair) all += fair - load;
      if (load > fair) surplus[site] += load - fair;
    }
    for (const auto& [site, lack] : lacks) far += lack - std::min(lack, surplus[site]);
    CHECK(asked.all == all);
    CHECK(asked.far == far);
    for (const auto& [donor, vnodes] : asked.of) CHECK(vnodes + fair <= job.loads.at(donor));
  }
}

TEST_CASE("nothing is known of sites: those with most are asked, each one once") {
  Job job;
  for (std::uint64_t i = 0; i < 8; ++i) job.add(i % 2, 3);
  for (std::uint64_t i = 0; i < 4; ++i) job.add(i % 2, 0);

  const Asked asked(job, job.ask(false));

  CHECK(asked.all == 8);  // Shares are of two, and four have nothing.
  for (const auto& [donor, vnodes] : asked.of) CHECK(vnodes + 2 <= job.loads.at(donor));
}

TEST_CASE("there is less than is missing: everybody asks somebody all the same") {
  Job job;
  job.outsider = job.add(0, 4);  // It may not be asked.
  job.add(0, 2);
  for (std::uint64_t i = 0; i < 4; ++i) job.add(1, 0);

  const Asked asked(job, job.ask());
  CHECK(asked.all == 4);
  CHECK(asked.of.size() == 1);
}

TEST_CASE(
    "large shares: newcomers ask different ones of their site, if these have enough for all") {
  Job job;
  for (std::uint64_t i = 0; i < 8; ++i) job.add(i % 2, 640);
  for (std::uint64_t i = 0; i < 4; ++i) job.add(i % 2, 0);

  const Asked near(job, job.ask());
  CHECK(near.far == 0);
  CHECK(near.of.size() == 4);

  for (std::uint64_t i = 0; i < 12; ++i) job.add(2, 0);
  const Asked anybody(job, job.ask());
  CHECK(anybody.far > 0);
  CHECK(anybody.of.size() == 8);
}

TEST_SUITE_END();

}  // namespace phx::runtime::pulls_test
