#include "runtime/mpi/groups/cartesian.h"

#include <algorithm>
#include <functional>

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

/// Looks for `count` factors, none greater than the one before, whose greatest is as small as
/// possible, then the second, and so on. The first full list that is found is that one.
class Factors {
 public:
  explicit Factors(int number) : divisors_(divisors_of(number)) {}

  bool find(int rest, std::size_t count, int limit) {
    if (count == 1) {  // it is no greater than the one before, which was enough
      chosen_.push_back(rest);
      return true;
    }
    for (const int divisor : divisors_) {
      if (divisor > limit) return false;
      if (rest % divisor != 0 || !is_enough(divisor, count, rest)) continue;
      chosen_.push_back(divisor);
      if (find(rest / divisor, count - 1, divisor)) return true;
      chosen_.pop_back();
    }
    return false;
  }
  [[nodiscard]] const std::vector<int>& chosen() const { return chosen_; }

 private:
  /// Whether `count` factors up to this one can make the product.
  static bool is_enough(int divisor, std::size_t count, int rest) {
    double product = 1;
    for (std::size_t i = 0; i < count && product < rest; ++i) product *= divisor;
    return product >= rest;
  }

  std::vector<int> divisors_;
  std::vector<int> chosen_;
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
  Factors factors(rest);
  factors.find(rest, open, rest);
  auto next = factors.chosen().begin();
  for (int& dim : dims) {
    if (dim == 0) dim = *next++;
  }
}

int Cartesian::size() const {
  int product = 1;
  for (const int dim : dims) product *= dim;
  return product;
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
