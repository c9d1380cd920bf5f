#include "overlay/survey/site_finder.h"

#include <doctest/doctest.h>

#include <vector>

namespace phx::overlay::site_finder_test {
namespace {

using Sample = SiteFinder::Sample;

ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}

ProcessorSet first(std::uint32_t count) {
  return ProcessorSet::range(p(1), p(count));
}

/// p1 to p3 are near each other, and p4 to p6; 4 ms lie between.
Duration truth(ProcessorId one, ProcessorId other) {
  return (one.value <= 3) == (other.value <= 3) ? 300us : 4ms;
}

/// What everybody of `from` measures to all of `to`.
std::vector<Sample> samples(const std::vector<std::uint32_t>& from,
                            const std::vector<std::uint32_t>& to) {
  std::vector<Sample> result;
  for (const std::uint32_t one : from) {
    for (const std::uint32_t other : to) {
      if (one != other) result.push_back({p(one), p(other), truth(p(one), p(other))});
    }
  }
  return result;
}

/// Both sites found in two rounds.
SiteFinder found() {
  SiteFinder finder({});
  finder.on_round({p(1)}, {p(1), p(2), p(3), p(4), p(5), p(6)}, samples({2, 3, 4, 5, 6}, {1}));
  finder.on_round({p(5), p(4)}, {p(4), p(5), p(6)}, samples({4, 5, 6}, {1, 4, 5}));
  return finder;
}

}  // namespace

TEST_SUITE_BEGIN("overlay/site_finder");

TEST_CASE("whoever is near the first landmark is of its site, the others wait") {
  SiteFinder finder({});
  finder.on_round({p(1)}, {p(1), p(2), p(3), p(4), p(5), p(6)}, samples({2, 3, 4, 5, 6}, {1}));

  CHECK(finder.placed() == ProcessorSet{p(1), p(2), p(3)});
  CHECK(finder.landmarks() == std::vector{p(1)});
}

TEST_CASE("of two candidates that are near each other one site is made") {
  const SiteFinder finder = found();

  CHECK(finder.sites() == 2);
  CHECK(finder.landmarks() == std::vector{p(1), p(4)});  // the lowest id, not the first candidate
  const KnownNetwork network = finder.network();
  CHECK(network.check().ok());
  CHECK(network.sites[1].processors == ProcessorSet{p(4), p(5), p(6)});
  CHECK(network.sites[0].latency == 150us);
  CHECK(network.way(p(1), p(6)).latency == 2ms);
  CHECK(network.way(p(6), p(1)).latency == 2ms);
}

TEST_CASE("processors of one machine are one site, however long their round trips were") {
  SiteFinder finder({});
  finder.on_machines({{p(1), p(3), p(5)}, {p(2), p(4)}});
  // All are busy: nobody measures what is true.
  finder.on_round({p(1)}, {p(1), p(2), p(3), p(4)},
                  {{p(2), p(1), 30ms}, {p(3), p(1), 4ms}, {p(4), p(1), 9ms}});
  CHECK(finder.placed() == ProcessorSet{p(1), p(3)});
  finder.on_round({p(4), p(2)}, {p(2), p(4)}, {{p(4), p(1), 9ms}, {p(2), p(4), 5ms}});

  CHECK(finder.landmarks() == std::vector{p(1), p(2)});
  CHECK(finder.network().sites[1].processors == ProcessorSet{p(2), p(4)});
  CHECK(finder.network().sites[1].latency == 2500us);
  CHECK(finder.network().way(p(1), p(2)).latency == 4500us);

  finder.on_round({p(5)}, {p(5), p(6)}, {{p(5), p(1), 50ms}, {p(6), p(5), 100us}});
  CHECK(finder.site_of(p(5)) == 0U);
  CHECK(finder.site_of(p(6)) == 0U);  // As near to one of the machine as to all.
}

TEST_CASE("of a machine whose processors are placed together, the nearest measurement counts") {
  SiteFinder finder({});
  finder.on_machines({{p(2), p(3)}});
  finder.on_round({p(1)}, {p(1), p(2), p(3)}, {{p(2), p(1), 20ms}, {p(3), p(1), 300us}});

  CHECK(finder.sites() == 1);
  CHECK(finder.placed() == ProcessorSet{p(1), p(2), p(3)});
}

TEST_CASE("what a message costs is taken off the latencies") {
  SiteFinder finder = found();
  finder.on_overheads({5us, 7us, 5us, 5us, 900us});

  CHECK(finder.network().usual.overhead == 5us);
  CHECK(finder.network().way(p(1), p(6)).latency == 1990us);
}

TEST_CASE("whoever did not report is not placed, candidate or not") {
  SiteFinder finder({});
  finder.on_round({p(1)}, {p(1), p(2)}, samples({2}, {1}));
  finder.on_round({p(4), p(5)}, {p(5)}, samples({5}, {1}));

  CHECK(finder.placed() == ProcessorSet{p(1), p(2), p(5)});
}

TEST_CASE("near is less than a millisecond, and not much farther than the nearest known") {
  SiteFinder finder({});
  finder.on_round({p(1)}, {p(1), p(2), p(3), p(4)},
                  {{p(2), p(1), 100us}, {p(3), p(1), 299us}, {p(4), p(1), 301us}});

  CHECK(finder.placed() == ProcessorSet{p(1), p(2), p(3)});

  SiteFinder far({});
  far.on_round({p(1)}, {p(1), p(2)}, {{p(2), p(1), 1001us}});
  CHECK(far.placed() == ProcessorSet{p(1)});
}

TEST_CASE("with as many sites as may be, the others join the nearest") {
  SiteFinderOptions options;
  options.sites_max = 1;
  SiteFinder finder(options);
  finder.on_round({p(1)}, {p(1)}, {});
  finder.on_round({p(4), p(5)}, {p(4), p(5), p(6)}, samples({4, 5, 6}, {1, 4, 5}));

  CHECK(finder.sites() == 1);
  CHECK(finder.placed() == ProcessorSet{p(1), p(4), p(5), p(6)});
}

TEST_CASE("sites without processors vanish, and the ways between the others stay") {
  SiteFinder finder = found();
  finder.on_round({p(7)}, {p(7)}, {{p(7), p(1), 9ms}, {p(7), p(4), 7ms}});
  REQUIRE(finder.sites() == 3);

  finder.keep_only({p(2), p(7)});

  CHECK(finder.landmarks() == std::vector{p(2), p(7)});
  CHECK(finder.network().way(p(2), p(7)).latency == 4500us);
}

TEST_CASE("a candidate that could not measure a landmark makes no site of its own") {
  SiteFinder finder({});
  finder.on_round({p(1)}, {p(1), p(2)}, samples({2}, {1}));
  finder.on_round({p(3), p(4)}, {p(3), p(4), p(5)}, samples({4, 5}, {1, 3, 4}));
  CHECK(finder.landmarks() == std::vector{p(1), p(4)});
  CHECK_FALSE(finder.site_of(p(3)).has_value());  // perhaps it is near p1

  finder.on_round({p(9)}, {p(9)}, {{p(9), p(4), 30ms}});
  CHECK_FALSE(finder.site_of(p(9)).has_value());
  finder.on_round({p(9)}, {p(9)}, {{p(9), p(4), 30ms}, {p(9), p(1), 30ms}});
  CHECK(finder.site_of(p(9)).has_value());
}

TEST_CASE("a newcomer that measures badly changes nothing of what is known") {
  SiteFinder finder = found();
  const KnownNetwork before = finder.network();
  finder.on_round({p(7)}, {p(7)}, {{p(7), p(1), 30us}, {p(7), p(4), 400ms}});

  CHECK(finder.network().way(p(1), p(4)) == before.way(p(1), p(4)));
  CHECK(finder.site_of(p(7)) == finder.site_of(p(1)));
}

TEST_CASE("a newcomer that measured badly is of a site as soon as it measures well") {
  SiteFinder finder = found();
  const KnownNetwork before = finder.network();
  finder.on_round({p(7)}, {p(7)}, {{p(7), p(1), 40ms}, {p(7), p(4), 30ms}});
  REQUIRE(finder.sites() == 3);
  CHECK_FALSE(finder.on_again({{p(7), p(4), 29ms}}));
  CHECK(finder.on_again({{p(7), p(5), 400us}}));
  CHECK(finder.sites() == 2);
  CHECK(finder.site_of(p(7)) == finder.site_of(p(4)));
  CHECK(finder.network().way(p(1), p(7)) == before.way(p(1), p(4)));
  CHECK(finder.network().sites[1].latency == before.sites[1].latency);
}

/// p7 and p8 have found each other, and seem far from the landmarks.
SiteFinder with_newcomers() {
  SiteFinder finder = found();
  finder.on_round(
      {p(7)}, {p(7), p(8)},
      {{p(7), p(1), 40ms}, {p(7), p(4), 30ms}, {p(8), p(4), 30ms}, {p(8), p(7), 300us}});
  REQUIRE(finder.sites() == 3);
  return finder;
}

TEST_CASE("who is near any member of a site is of it, however busy its landmark is") {
  SiteFinder finder = with_newcomers();
  const KnownNetwork before = found().network();

  finder.on_look({{p(7), p(1), 40ms}, {p(7), p(5), 9ms}, {p(8), p(6), 400us}}, first(6));

  CHECK(finder.sites() == 2);
  CHECK(finder.site_of(p(7)) == finder.site_of(p(4)));
  CHECK(finder.site_of(p(8)) == finder.site_of(p(4)));
  CHECK(finder.network().between == before.between);
  CHECK(finder.network().sites[1].latency == before.sites[1].latency);
}

TEST_CASE("beside rows a newcomer is of the site that is nearer than another could be") {
  // As far apart as these are the two sites, so whoever is of the first one is no nearer to the
  // second.
  const auto sites_of = [](Duration apart, const std::vector<Duration>& to_second) {
    SiteFinder finder = with_newcomers();
    REQUIRE((apart == 4ms || !finder.on_again({{p(6), p(2), apart}})));
    REQUIRE((apart == 4ms || finder.on_again({{p(6), p(2), apart}})));
    std::vector<Sample> look = {
        {p(7), p(2), 2 * apart}, {p(7), p(3), 3 * apart}, {p(7), p(4), 30ms}, {p(8), p(4), 30ms}};
    for (const Duration time : to_second) look.push_back({p(7), p(5), time});
    for (const Duration time : to_second) look.push_back({p(8), p(6), 2 * time});
    finder.on_look(look, first(6));
    return finder.sites();
  };

  CHECK(sites_of(4ms, {1300us}) == 2);
  CHECK(sites_of(4ms, {2900us}) == 2);
  CHECK(sites_of(40ms, {2900us}) == 2);
  CHECK(sites_of(40ms, {3100us}) == 3);  // too far, however far the other site is
  CHECK(sites_of(4ms, {3100us}) == 3);
}

TEST_CASE("beside rows it stays on its own where another site is nearly as near") {
  SiteFinder finder({});
  finder.on_round({p(1)}, {p(1), p(2), p(3)}, {{p(2), p(1), 300us}, {p(3), p(1), 300us}});
  finder.on_round({p(4)}, {p(4), p(5)}, {{p(4), p(1), 2ms}, {p(5), p(4), 300us}});
  finder.on_round({p(7)}, {p(7)}, {{p(7), p(1), 40ms}, {p(7), p(4), 30ms}});
  REQUIRE(finder.sites() == 3);
  const std::vector<Sample> rows = {{p(7), p(2), 9ms}, {p(7), p(3), 9ms}, {p(7), p(1), 40ms}};

  std::vector<Sample> look = rows;
  look.push_back({p(7), p(2), 1600us});  // 3/4 of 2 ms are 1.5 ms
  finder.on_look(look, first(6));
  CHECK(finder.sites() == 3);

  look = rows;
  look.push_back({p(7), p(2), 1400us});
  finder.on_look(look, first(6));
  CHECK(finder.sites() == 2);
}

TEST_CASE("two sites that were known stay two, although somebody is near both") {
  SiteFinder finder = with_newcomers();

  finder.on_look({{p(7), p(2), 900us}, {p(7), p(5), 800us}, {p(8), p(3), 850us}}, first(6));

  CHECK(finder.sites() == 2);
  CHECK(finder.site_of(p(7)) == finder.site_of(p(4)));  // the nearer one
}

TEST_CASE("what a look has measured counts, not the row before it") {
  SiteFinder finder({});
  finder.on_round({p(1)}, {p(1)}, {});
  finder.on_round({p(7)}, {p(7)}, {{p(7), p(1), 30ms}});
  REQUIRE(finder.sites() == 2);

  finder.on_look({{p(7), p(1), 300us}}, {p(1)});

  REQUIRE(finder.sites() == 1);
  CHECK(finder.network().sites[0].latency == 150us);
}

TEST_CASE("where no rows are a newcomer is a site of its own, nearer than others or not") {
  SiteFinder finder = with_newcomers();

  finder.on_look({{p(7), p(2), 5300us}, {p(7), p(5), 1300us}, {p(8), p(6), 1350us}}, first(6));

  CHECK(finder.sites() == 3);
  CHECK(finder.site_of(p(7)) == finder.site_of(p(8)));
}

TEST_CASE("a row of sites, each near the next one, does not become one") {
  SiteFinder finder({});
  const auto far = [](std::uint32_t one, std::uint32_t other) {
    return 950us * static_cast<Duration::rep>(one - other);
  };
  std::vector<Sample> all;
  for (std::uint32_t i = 1; i <= 6; ++i) {
    finder.on_round({p(i)}, {p(i)},
                    {{p(i), p(1), 9ms},
                     {p(i), p(2), 9ms},
                     {p(i), p(3), 9ms},
                     {p(i), p(4), 9ms},
                     {p(i), p(5), 9ms}});
    for (std::uint32_t j = 1; j < i; ++j) all.push_back({p(i), p(j), far(i, j)});
  }
  REQUIRE(finder.sites() == 6);
  CHECK(finder.on_again(all));
  CHECK(finder.sites() == 3);
  CHECK(finder.network().check().ok());
  for (int i = 0; i < 3; ++i) static_cast<void>(finder.on_again(all));
  CHECK(finder.sites() == 3);
}

TEST_CASE("that somebody leaves does not make a longer way forgotten") {
  SiteFinder finder = found();
  finder.on_round({p(7)}, {p(7)}, {{p(7), p(1), 9ms}, {p(7), p(4), 7ms}});
  CHECK_FALSE(finder.on_again({{p(6), p(2), 40ms}}));
  finder.keep_only({p(1), p(2), p(3), p(4), p(6)});
  REQUIRE(finder.sites() == 2);
  CHECK(finder.on_again({{p(6), p(2), 44ms}}));
  CHECK(finder.network().way(p(1), p(6)).latency == 20ms);
}

TEST_CASE("that somebody joins does not make a longer way forgotten, unless it has measured it") {
  for (const bool has_measured : {false, true}) {
    SiteFinder finder = found();
    finder.on_round({p(7)}, {p(7)}, {{p(7), p(1), 9ms}, {p(7), p(4), 7ms}});
    REQUIRE(finder.sites() == 3);
    CHECK_FALSE(finder.on_again({{p(6), p(2), 40ms}}));
    const ProcessorId near = has_measured ? p(1) : p(7);
    finder.on_round({p(8)}, {p(8)},
                    {{p(8), near, 300us}, {p(8), p(4), has_measured ? Duration{4ms} : 7ms}});
    REQUIRE(finder.site_of(p(8)) == finder.site_of(near));
    CHECK(finder.on_again({{p(6), p(2), 44ms}}) == !has_measured);
    CHECK(finder.network().way(p(1), p(6)).latency == (has_measured ? 2ms : 20ms));
  }
}

TEST_CASE("somebody else goes on from the network alone") {
  SiteFinder finder = found();
  finder.on_overheads({5us});
  SiteFinder heir({});
  heir.begin(finder.network());

  CHECK(heir.network() == finder.network());

  CHECK_FALSE(finder.on_again({{p(6), p(2), 40ms}}));
  finder.begin(heir.network());  // Also if it was the one before.
  CHECK_FALSE(finder.on_again({{p(6), p(2), 44ms}}));
}

TEST_CASE("a way that gets longer is believed the second time, a shorter one at once") {
  SiteFinder finder = found();

  CHECK_FALSE(finder.on_again({{p(6), p(2), 4500us}}));  // not much
  CHECK_FALSE(finder.on_again({{p(6), p(2), 40ms}}));
  CHECK(finder.on_again({{p(5), p(3), 44ms}}));
  CHECK(finder.network().way(p(1), p(6)).latency == 20ms);

  CHECK(finder.on_again({{p(6), p(2), 4ms}}));
  CHECK(finder.network().way(p(1), p(6)).latency == 2ms);

  CHECK_FALSE(finder.on_again({{p(6), p(2), 40ms}}));  // once, and then no more
  CHECK_FALSE(finder.on_again({{p(6), p(2), 4ms}}));
  CHECK_FALSE(finder.on_again({{p(6), p(2), 40ms}}));
}

TEST_SUITE_END();

}  // namespace phx::overlay::site_finder_test
