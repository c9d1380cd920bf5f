// Numbers sorted by collectives: every vnode has some; samples of all of them say which range each
// vnode gets; everybody sends everybody its numbers of that range, and sorts what it has got.
#include <phoenix.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr std::size_t kEach = 10'000;
constexpr std::size_t kSamples = 64;

Numbers numbers_of(phx::Vnode v) {
  std::mt19937 random(static_cast<std::uint32_t>(v));
  Numbers numbers(kEach);
  for (auto& number : numbers) number = random();
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

int main() {
  phx::Session job;
  if (!job.safe_point()) return 0;  // From here on every vnode is somewhere.
  std::map<phx::Vnode, Numbers> own;
  for (const phx::Vnode v : job.held()) own[v] = numbers_of(v);

  // Of all samples, sorted, every so manieth ends a range.
  Numbers samples;
  for (const Numbers& of_one : job.allgather([&](phx::Vnode v) {
         Numbers some;
         for (std::size_t i = 0; i < kSamples; ++i) some.push_back(own[v][i * kEach / kSamples]);
         return some;
       })) {
    samples.insert(samples.end(), of_one.begin(), of_one.end());
  }
  std::ranges::sort(samples);
  const auto begin_of = [&](const Numbers& numbers, phx::Vnode range) {
    if (range == 0) return numbers.begin();
    if (range == job.vnodes()) return numbers.end();
    return std::ranges::lower_bound(numbers, samples[range * kSamples]);
  };

  auto parts = job.alltoall([&](phx::Vnode from, phx::Vnode to) {
    return Numbers(begin_of(own[from], to), begin_of(own[from], to + 1));
  });
  std::map<phx::Vnode, Numbers> sorted;
  for (auto& [to, of_all] : parts) {
    for (const Numbers& part : of_all) {
      sorted[to].insert(sorted[to].end(), part.begin(), part.end());
    }
    std::ranges::sort(sorted[to]);
  }

  // Where the numbers of each vnode stand among all, and whether they are in order and complete.
  const auto size_of = [&](phx::Vnode v) { return static_cast<std::uint64_t>(sorted[v].size()); };
  const auto positions = job.exscan(phx::sum, size_of, std::uint64_t{0});
  const auto ends = job.allgather([&](phx::Vnode v) {
    return std::pair(sorted[v].empty() ? 0 : sorted[v].front(),
                     sorted[v].empty() ? 0 : sorted[v].back());
  });
  bool in_order = true;
  for (std::size_t i = 1; i < ends.size(); ++i) in_order &= ends[i - 1].second <= ends[i].first;
  const auto all = job.reduce(0, phx::sum, size_of);
  if (!all) return 0;  // v0 is elsewhere.
  if (*all != kEach * job.vnodes() || !in_order) {
    job.abort(1, "they are not sorted");
    return 1;
  }
  std::printf("sort: %llu numbers are in order; v0 begins at %llu\n",
              static_cast<unsigned long long>(*all),
              static_cast<unsigned long long>(positions.at(0)));
}
