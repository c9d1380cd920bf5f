/// Broadcasts of growing size from every vnode in turn to all vnodes. Every vnode compares the
/// checksum of what it got with that of what was to be sent.
#include <phoenix.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/demos/demo.h"

namespace {

using demos::say;
constexpr phx::Tag kTime = 1;

struct Settings {
  std::string file;
  std::uint64_t least = 1;
  std::uint64_t greatest = std::uint64_t{4} << 20U;
  std::uint64_t factor = 4;
};

/// The sizes to send, and the bytes if they come from a file.
struct Plan {
  std::vector<std::uint64_t> sizes;
  std::vector<std::byte> content;

  [[nodiscard]] std::vector<std::byte> bytes(std::uint64_t round, std::uint64_t size) const {
    if (content.empty()) return demos::make_bytes(demos::mix(round), size);
    return {content.begin(), content.begin() + static_cast<std::ptrdiff_t>(size)};
  }
};

/// The times of one size, gathered by vnode 0.
struct Times {
  double total_s = 0;
  double best_s = 1e9;
  double worst_s = 0;
  std::uint64_t processors = 0;  ///< Summed over the broadcasts.
};

/// What a vnode takes along when it moves.
struct Progress {
  std::uint64_t round = 0;
  std::uint64_t verified = 0;
  Times times{};
  void state(auto& io) { io(round, verified, times); }
};

Plan make_plan(const Settings& settings) {
  Plan plan;
  std::uint64_t greatest = settings.greatest;
  if (!settings.file.empty()) {
    std::ifstream in(settings.file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in || text.empty()) throw std::runtime_error("cannot read " + settings.file);
    const auto bytes = std::as_bytes(std::span(text));
    plan.content.assign(bytes.begin(), bytes.end());
    greatest = text.size();
  }
  for (std::uint64_t size = settings.least; size < greatest; size *= settings.factor) {
    plan.sizes.push_back(size);
  }
  plan.sizes.push_back(greatest);
  return plan;
}

/// What does not fit together; empty: nothing.
std::string wrong_with(const Settings& settings) {
  std::uint64_t greatest = settings.greatest;
  std::string most = "--max";
  if (!settings.file.empty()) {
    std::error_code failure;
    greatest = std::filesystem::file_size(settings.file, failure);
    if (failure) return settings.file + ": " + failure.message();
    most = "all of " + settings.file;
  }
  if (settings.least <= greatest) return {};
  return "--min is " + demos::spell_bytes(settings.least) + ", which is more than " + most + " (" +
         demos::spell_bytes(greatest) + ")";
}

void report(const Times& times, std::uint64_t size, std::uint64_t count) {
  const double mean_s = times.total_s / static_cast<double>(count);
  const double processors = static_cast<double>(times.processors) / static_cast<double>(count);
  say("%10s %11llu %11.1f %10s %10s %10s %12s", demos::spell_bytes(size).c_str(),
      static_cast<unsigned long long>(count), processors, demos::spell_seconds(mean_s).c_str(),
      demos::spell_seconds(times.best_s).c_str(), demos::spell_seconds(times.worst_s).c_str(),
      demos::spell_rate(static_cast<double>(size) * processors / mean_s).c_str());
}

/// One broadcast, timed and verified.
void one_round(phx::Session& job, phx::Objects<Progress>& all, const Plan& plan) {
  const phx::Vnode vnodes = job.vnodes();
  const std::uint64_t round = all.begin()->second.round;
  const phx::Vnode root = round % vnodes;
  const std::uint64_t size = plan.sizes[round / vnodes];
  const std::vector<std::byte> bytes = plan.bytes(round, size);
  const double begin_s = demos::clock_s();
  if (job.holds(root)) job.cast(root, bytes);
  std::vector<phx::Payload> got;
  for (auto& [v, progress] : all) {
    got.push_back(job.recv({.at = v, .from = root, .kind = phx::Kind::kBroadcast}).payload);
  }
  // One vnode of each process counts the processors; that everybody counts confirms the arrival.
  const phx::Vnode first = all.begin()->first;
  const auto processors =
      job.allreduce(phx::sum, [&](phx::Vnode v) { return std::uint64_t{v == first ? 1U : 0U}; });
  const double took_s = demos::clock_s() - begin_s;
  if (job.holds(root)) job.send(root, 0, took_s, kTime);
  std::size_t next = 0;
  const std::uint64_t sent = demos::checksum(bytes);
  for (auto& [v, progress] : all) {
    const phx::Payload& payload = got[next++];
    if (demos::checksum(payload.bytes()) != sent) {
      demos::wrong("round " + std::to_string(round) + ": vnode " + std::to_string(v) + " got " +
                   std::to_string(payload.size()) + " bytes instead of the " +
                   std::to_string(size) + " that vnode " + std::to_string(root) +
                   " sent, or others");
    }
    ++progress.verified;
    ++progress.round;
  }
  if (!job.holds(0)) return;
  Times& times = all[0].times;
  const auto seconds = job.recv<double>({.at = 0, .from = root, .tag = kTime});
  times.total_s += seconds;
  times.best_s = std::min(times.best_s, seconds);
  times.worst_s = std::max(times.worst_s, seconds);
  times.processors += processors;
  if (root + 1 == vnodes) report(std::exchange(times, {}), size, vnodes);
}

int broadcast(phx::Session& job, const Settings& settings) {
  const Plan plan = make_plan(settings);
  phx::Objects<Progress> all(job);
  const std::uint64_t rounds = plan.sizes.size() * job.vnodes();
  while (job.safe_point()) {
    if (all.begin()->second.round == 0 && job.holds(0)) {
      say("Every one of %llu vnodes sends to all. Times include the confirmation by all; bandwidth "
          "is bytes x processors / mean time.",
          static_cast<unsigned long long>(job.vnodes()));
      say("%10s %11s %11s %10s %10s %10s %12s", "size", "broadcasts", "processors", "mean", "best",
          "worst", "bandwidth");
    }
    one_round(job, all, plan);
    if (all.begin()->second.round < rounds) continue;
    const auto verified = job.allreduce(phx::sum, [&](phx::Vnode v) { return all[v].verified; });
    if (verified != rounds * job.vnodes()) {
      demos::wrong(std::to_string(verified) + " deliveries instead of " +
                   std::to_string(rounds * job.vnodes()));
    }
    if (job.holds(0)) {
      say("broadcast: %llu broadcasts, %llu deliveries, every checksum right",
          static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(verified));
    }
    return 0;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const phx::options::Program app(
      "Broadcasts from every vnode in turn to all vnodes, each checksum verified");
  app.add_option("--min", settings.least, "Smallest message, e.g. 64, 4K, 1M")
      .check(demos::size_in_bytes())
      .capture_default_str();
  const auto greatest = app.add_option("--max", settings.greatest,
                                       "Largest message, 1G at most (but a --file may be longer)");
  greatest.check(demos::size_in_bytes()).capture_default_str();
  app.add_option("--factor", settings.factor, "From one size to the next")
      .check(phx::options::range(2, 1024))
      .capture_default_str();
  app.add_option("--file", settings.file,
                 "Send beginnings of this file, at last all of it (readable at every processor)")
      .check(phx::options::existing_file())
      .excludes(greatest);
  const auto wrong = [&] { return wrong_with(settings); };
  if (const auto code = demos::read_options(app, "broadcast", argc, argv, wrong)) return *code;
  return demos::run("broadcast", [&](phx::Session& job) { return broadcast(job, settings); });
}
