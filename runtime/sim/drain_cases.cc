#include "runtime/sim/drain_cases.h"

#include "overlay/base/rng.h"

namespace phx::sim {
namespace {

constexpr std::uint64_t kMbit = 125'000;
constexpr std::size_t kKibi = std::size_t{1} << 10U;
constexpr std::size_t kMebi = std::size_t{1} << 20U;

constexpr const char* kCluster16 = "site A 16 50\nnic 1000\noverhead 5\n";
constexpr const char* kCluster64 = "site A 64 50\nnic 1000\noverhead 5\n";
constexpr const char* kTwoSites =
    "site A 8 50\nsite B 8 50\nlatency A B 5000\nlink A B 200\nnic 1000\noverhead 5\n";
constexpr const char* kFourSites =
    "site A 4 50\nsite B 4 50\nsite C 4 50\nsite D 4 50\nlatency * * 5000\nlink * * 100\n"
    "link A B 400\nlink C D 400\nnic 1000\noverhead 5\n";

std::function<std::size_t(VnodeId)> equal(std::size_t bytes) {
  return [bytes](VnodeId) { return bytes; };
}

/// Between 1 KiB and 8 MiB, each power of two as often.
std::size_t drawn(VnodeId vnode) {
  constexpr std::uint64_t kPowers = 13;
  return kKibi << Rng(vnode.value + 1).below(kPowers);
}

std::size_t every_eighth_is_heavy(VnodeId vnode) {
  constexpr std::uint64_t kEighth = 8;
  return vnode.value % kEighth == 3 ? 8 * kMebi : 256 * kKibi;
}

/// Machines are numbered site by site.
std::set<MachineId> machines(std::uint32_t first, std::uint32_t end, std::uint32_t step = 1) {
  std::set<MachineId> all;
  for (std::uint32_t i = first; i < end; i += step) all.insert(MachineId{i});
  return all;
}

std::set<MachineId> three_of_four() {
  std::set<MachineId> all;
  for (const MachineId machine : machines(0, 16)) {
    if (machine.value % 4 != 3) all.insert(machine);
  }
  return all;
}

DrainCase drain(std::string name, const char* topology, std::uint64_t vnodes,
                std::function<std::size_t(VnodeId)> state_of, std::set<MachineId> leavers) {
  DrainCase result{std::move(name), {}};
  result.options.topology = overlay::Topology::parse(topology).value();
  result.options.vnodes = vnodes;
  result.options.state_of = std::move(state_of);
  result.options.leavers = std::move(leavers);
  return result;
}

}  // namespace

std::vector<DrainCase> drain_cases() {
  const std::set<MachineId> half = machines(1, 16, 2);
  std::set<MachineId> eight = machines(0, 6);
  eight.merge(machines(8, 10));
  std::vector<DrainCase> cases = {
      drain("site of 64, every second leaves", kCluster64, 128, equal(2 * kMebi),
            machines(1, 64, 2)),
      drain("site of 64, the first half leaves", kCluster64, 128, equal(2 * kMebi),
            machines(0, 32)),
      drain("site of 64, 60 leave", kCluster64, 128, equal(2 * kMebi), machines(0, 60)),
      drain("site of 16, half, one vnode of eight heavy", kCluster16, 128, every_eighth_is_heavy,
            half),
      drain("site of 16, half, 1 KiB to 8 MiB", kCluster16, 128, drawn, half),
      drain("site of 16, 12 leave, 1 KiB to 8 MiB", kCluster16, 128, drawn, machines(0, 12)),
      drain("site of 16, half, one leaver slow", kCluster16, 64, equal(2 * kMebi), half),
      drain("site of 16, half, two receivers slow", kCluster16, 64, equal(2 * kMebi), half),
      drain("site of 16, half, all interfaces differ", kCluster16, 64, equal(2 * kMebi), half),
      drain("two sites, one leaves", kTwoSites, 64, equal(2 * kMebi), machines(0, 8)),
      drain("two sites, 6 and 2 of 8 leave", kTwoSites, 64, equal(2 * kMebi), std::move(eight)),
      drain("four sites, half of each leaves", kFourSites, 64, equal(kMebi), half),
      drain("four sites, 3 of 4 of each leave", kFourSites, 64, equal(kMebi), three_of_four()),
      drain("four sites, three leave", kFourSites, 64, equal(kMebi), machines(4, 16))};
  cases[6].options.interfaces = {{MachineId{3}, 100 * kMbit}};
  cases[7].options.interfaces = {{MachineId{4}, 100 * kMbit}, {MachineId{8}, 250 * kMbit}};
  for (std::uint32_t i = 0; i < 16; ++i) {
    cases[8].options.interfaces[MachineId{i}] = 1000 * kMbit / (1 + (i * 7) % 5 * 2);
  }
  return cases;
}

}  // namespace phx::sim
