#include "runtime/mpi/groups/cartesian.h"

#include <algorithm>
#include <limits>

#include "runtime/mpi/base/errors.h"

namespace phx::mpi {
namespace {

std::vector<int> divisors_of(int number) {
  std::vector<int> divisors;
  for (int i = 1; i <= number / i; ++i) {
    if (number % i != 0) continue;
    divisors.push_back(i);
    if (i != number / i) divisors.push_back(number / i);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

/// Looks for `count` factors that are as close to each other as possible: the greatest and the
/// smallest one differ as little as they can; of those lists the one whose smallest factor is the
/// greatest, then the second smallest, and so on.
class Factors {
 public:
  Factors(int number, std::size_t count) : divisors_(divisors_of(number)) {
    find(number, count, number);
  }
  /// Not increasing.
  [[nodiscard]] const std::vector<int>& best() const { return best_; }

 private:
  /// `count` more factors, none greater than the last one.
  void find(int rest, std::size_t count, int limit) {
    if (count == 0) {
      if (rest == 1 && (best_.empty() || is_better())) best_ = chosen_;
      return;
    }
    for (const int divisor : divisors_) {
      if (divisor > limit) return;
      if (rest % divisor != 0 || power(divisor, count) < rest) continue;
      const int greatest = chosen_.empty() ? divisor : chosen_.front();
      const int least = best_.empty() ? 1 : std::max(greatest - spread(best_), 1);
      if (power(least, count) > rest) {
        if (chosen_.empty()) return;  // greater ones will not be better
        continue;
      }
      chosen_.push_back(divisor);
      find(rest / divisor, count - 1, divisor);
      chosen_.pop_back();
    }
  }
  [[nodiscard]] bool is_better() const {
    const int more = spread(chosen_) - spread(best_);
    if (more != 0) return more < 0;
    return std::lexicographical_compare(best_.rbegin(), best_.rend(), chosen_.rbegin(),
                                        chosen_.rend());
  }
  static int spread(const std::vector<int>& factors) { return factors.front() - factors.back(); }
  /// As far as an int of processes could reach.
  static double power(int base, std::size_t exponent) {
    double product = 1;
    for (std::size_t i = 0; i < exponent && product < 1e10; ++i) product *= base;
    return product;
  }

  std::vector<int> divisors_;
  std::vector<int> chosen_;
  std::vector<int> best_;
};

}  // namespace

void fill_dimensions(int processes, std::span<int> dims) {
  long given = 1;
  std::size_t open = 0;
  for (const int dim : dims) {
    require(dim >= 0, MPI_ERR_DIMS, "a dimension is negative");
    if (dim == 0) {
      ++open;
    } else {
      given = std::min<long>(given * dim, processes + 1L);
    }
  }
  require(processes % given == 0, MPI_ERR_DIMS,
          "the given dimensions do not divide the number of processes");
  if (open == 0) return;
  const int rest = static_cast<int>(processes / given);
  const Factors factors(rest, open);
  auto next = factors.best().begin();
  for (int& dim : dims) {
    if (dim == 0) dim = *next++;
  }
}

int Cartesian::size() const {
  constexpr long kMost = std::numeric_limits<int>::max();  // more than there can be processes
  long product = 1;
  for (const int dim : dims) product = std::min(product * dim, kMost);
  return static_cast<int>(product);
}

std::vector<int> Cartesian::coordinates(int rank) const {
  std::vector<int> result(dims.size());
  for (std::size_t i = dims.size(); i-- > 0;) {
    result[i] = rank % dims[i];
    rank /= dims[i];
  }
  return result;
}

int Cartesian::rank_at(std::span<const int> coordinates) const {
  int rank = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    int at = coordinates[i];
    if (wraps[i]) {
      at %= dims[i];
      if (at < 0) at += dims[i];
    }
    if (at < 0 || at >= dims[i]) return MPI_PROC_NULL;
    rank = rank * dims[i] + at;
  }
  return rank;
}

int Cartesian::neighbour(int rank, int dimension, int steps) const {
  const auto d = static_cast<std::size_t>(dimension);
  std::vector<int> at = coordinates(rank);
  long moved = static_cast<long>(at[d]) + steps;
  if (wraps[d]) moved = (moved % dims[d] + dims[d]) % dims[d];
  if (moved < 0 || moved >= dims[d]) return MPI_PROC_NULL;
  at[d] = static_cast<int>(moved);
  return rank_at(at);
}

Cartesian Cartesian::sub_grid(const std::vector<bool>& kept) const {
  Cartesian result;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!kept[i]) continue;
    result.dims.push_back(dims[i]);
    result.wraps.push_back(wraps[i]);
  }
  return result;
}

Cartesian::Place Cartesian::place_in(int rank, const std::vector<bool>& kept) const {
  const std::vector<int> at = coordinates(rank);
  Place place{0, 0};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    int& part = kept[i] ? place.rank : place.grid;
    part = part * dims[i] + at[i];
  }
  return place;
}

std::span<const int> Graph::neighbours(int rank) const {
  const auto i = static_cast<std::size_t>(rank);
  const std::size_t begin = i == 0 ? 0 : static_cast<std::size_t>(ends[i - 1]);
  return std::span<const int>(edges).subspan(begin, static_cast<std::size_t>(ends[i]) - begin);
}

}  // namespace phx::mpi
