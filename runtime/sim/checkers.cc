#include "runtime/sim/checkers.h"

#include <algorithm>
#include <utility>

namespace phx::sim {

void Checkers::on_step(MachineId machine) {
  const SimDriver& driver = machines_[machine.value];
  if (!driver.is_running()) return;
  const runtime::Daemon& daemon = *driver.daemon();
  Seen& seen = seen_[machine];
  if (daemon.view().number != seen.view) check_view(machine, daemon);
  if (++seen.steps % (options_.invariants_every * factor()) == 0) daemon.check_invariants();
  if (++steps_ % owners_period() != 0) return;
  check_owners();
  if (network_.frames_in_flight() > options_.frames_max) {
    violations_.add("more than " + std::to_string(options_.frames_max) +
                    " frames are under way at once");
  }
}

/// How much larger the mesh is than a small one.
std::uint64_t Checkers::factor() const {
  constexpr std::uint64_t kSmall = 40;
  return machines_.size() / kSmall + 1;
}

std::uint64_t Checkers::owners_period() const {
  return options_.owners_every * factor() * factor();
}

/// Numbers that come next may differ: who has not given them may have heard of them later.
bool Checkers::is_alike(const runtime::View& one, const runtime::View& other) {
  return one.members == other.members && one.line == other.line &&
         one.relaying_since == other.relaying_since && one.origin == other.origin;
}

void Checkers::check_view(MachineId machine, const runtime::Daemon& daemon) {
  Seen& seen = seen_[machine];
  const runtime::View& view = daemon.view();
  if (view.number < seen.view) {
    violations_.add(to_string(daemon.self()) + " went back from view " + std::to_string(seen.view) +
                    " to " + std::to_string(view.number));
  }
  seen.view = view.number;
  constexpr std::size_t kLarge = 64;  // In larger meshes a sample of the views is compared.
  constexpr std::uint64_t kSample = 16;
  const bool is_skipped =
      view.members.size() > kLarge && (view.number + machine.value) % kSample != 0;
  if (is_skipped) return;
  std::vector<Variant>& variants = views_[view.number];
  Variant* own = nullptr;
  for (Variant& variant : variants) {
    if (is_alike(variant.view, view)) {
      own = &variant;
      continue;
    }
    const auto other = std::find_if(variant.holders.begin(), variant.holders.end(),
                                    [&](MachineId id) { return machines_[id.value].is_running(); });
    if (other == variant.holders.end() || options_.may_split) continue;
    violations_.add(to_string(daemon.self()) + " has another view " + std::to_string(view.number) +
                    " than " + to_string(machines_[other->value].daemon()->self()));
  }
  if (own == nullptr) own = &variants.emplace_back(Variant{view, {}});
  own->holders.insert(machine);
}

void Checkers::check_owners() {
  for (const JobId job : jobs_) {
    VnodeSet all;
    for (const SimDriver& driver : machines_) {
      if (!driver.is_running()) continue;
      const VnodeSet owned = driver.daemon()->owned(job);
      const VnodeSet twice = all.common(owned);
      if (!twice.empty()) {
        violations_.add("v" + to_string(twice) + " of " + to_string(job) +
                        " has a second owner: " + to_string(driver.daemon()->self()));
      }
      all = all.united(owned);
    }
  }
}

void Checkers::check_owners_known(JobId job) {
  std::map<ProcessorId, VnodeSet> owned;
  VnodeSet all;
  ViewNumber latest = 0;
  for (const SimDriver& driver : machines_) {
    if (!driver.is_running()) continue;
    const runtime::Daemon& daemon = *driver.daemon();
    latest = std::max(latest, daemon.view().number);
    all = all.united(owned[daemon.self()] = daemon.owned(job));
  }
  for (const SimDriver& driver : machines_) {
    // Who has left, and still runs, hears no more.
    if (!driver.is_running() || driver.daemon()->view().number < latest) continue;
    for (const runtime::Route& route : driver.daemon()->owners(job)) {
      const VnodeSet wrong = route.vnodes.common(all).minus(owned[route.owner]);
      if (wrong.empty()) continue;
      violations_.add(to_string(driver.daemon()->self()) + " takes " + to_string(route.owner) +
                      " for the owner of v" + to_string(wrong) + " of " + to_string(job));
    }
  }
}

std::uint64_t Checkers::counted(std::string_view counter) const {
  std::uint64_t sum = 0;
  for (const SimDriver& driver : machines_) {
    if (!driver.is_running()) continue;
    for (const auto& [name, value] : driver.daemon()->status().counters) {
      if (name == counter) sum += value;
    }
  }
  return sum;
}

bool Checkers::do_views_agree() const {
  const runtime::View* first = nullptr;
  std::uint64_t running = 0;
  for (const SimDriver& driver : machines_) {
    if (!driver.is_running()) continue;
    ++running;
    const runtime::View& view = driver.daemon()->view();
    if (first == nullptr) first = &view;
    if (view.number != first->number) return false;
  }
  if (first == nullptr) return true;
  if (first->members.size() != running) return false;
  return std::all_of(machines_.begin(), machines_.end(), [&](const SimDriver& driver) {
    return !driver.is_running() || driver.daemon()->view().members == first->members;
  });
}

void Checkers::check_settled(JobId job, std::uint64_t vnodes) {
  if (!do_views_agree()) violations_.add("the daemons do not agree on who is a member");
  VnodeSet all;
  for (const SimDriver& driver : machines_) {
    if (!driver.is_running()) continue;
    driver.daemon()->check_invariants();
    all = all.united(driver.daemon()->owned(job));
  }
  if (vnodes > 0 && all.size() != vnodes) {
    const VnodeSet every = VnodeSet::range(VnodeId{0}, VnodeId{vnodes - 1});
    violations_.add("v" + to_string(every.minus(all)) + " of " + to_string(job) + " has no owner");
  }
  check_owners();
}

}  // namespace phx::sim
