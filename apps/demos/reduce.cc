/// Reductions by every operator over arrays of every type, each compared with the sequential
/// result: by all vnodes for allreduce, by the target for reduce and contribute.
#include <phoenix.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/demos/demo.h"

namespace {

using demos::say;
using Op = std::remove_const_t<decltype(phx::sum)>;

/// A thing to try: all processes call it with the same number of the round.
struct Trial {
  std::string what;
  std::function<void(phx::Session&, std::uint64_t round)> go;
};

/// What a vnode takes along when it moves: the number of the next trial.
struct Progress {
  std::uint64_t round = 0;
  void state(auto& io) { io(round); }
};

/// Numbers of which sums and products are exact in every order, floating-point ones too.
template <class E>
E value(Op op, phx::Vnode v, std::size_t i) {
  const std::uint64_t chance = demos::mix(v * 1'000'003 + i);
  const bool is_logical = op == phx::logical_and || op == phx::logical_or || op == phx::logical_xor;
  if (is_logical) {
    // Elements of which all, some, or none are true.
    const bool truth = i % 3 == 0 || (i % 3 == 1 && chance % 4 != 0);
    return truth ? static_cast<E>(1 + chance % 9) : E{};
  }
  if constexpr (std::is_floating_point_v<E>) {
    if (op == phx::product) {
      const E power = std::ldexp(E{1}, static_cast<int>((v + i) % 3) - 1);
      return chance % 2 == 0 ? power : -power;
    }
    return static_cast<E>(chance % 201) - E{100};
  } else {
    return static_cast<E>(op == phx::product ? chance | 1U : chance);
  }
}

/// The operators once more, so that the runtime's are compared with something else.
template <class E>
E apply_bits(Op op, E a, E b) {
  if constexpr (std::is_integral_v<E>) {
    if (op == phx::bit_and) return static_cast<E>(a & b);
    if (op == phx::bit_or) return static_cast<E>(a | b);
    return static_cast<E>(a ^ b);
  } else {
    return E{};
  }
}

template <class E>
E apply(Op op, E a, E b) {
  // Integers wrap around; only unsigned ones of 64 bits may.
  using Wide = std::conditional_t<std::is_integral_v<E>, std::uint64_t, E>;
  switch (op) {
    case phx::sum:
      return static_cast<E>(static_cast<Wide>(a) + static_cast<Wide>(b));
    case phx::product:
      return static_cast<E>(static_cast<Wide>(a) * static_cast<Wide>(b));
    case phx::min:
      return b < a ? b : a;
    case phx::max:
      return a < b ? b : a;
    case phx::logical_and:
      return static_cast<E>(a != E{} && b != E{});
    case phx::logical_or:
      return static_cast<E>(a != E{} || b != E{});
    case phx::logical_xor:
      return static_cast<E>((a != E{}) != (b != E{}));
    default:
      return apply_bits(op, a, b);
  }
}

template <class T>
void check_equal(const T& got, const T& expected, const std::string& what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i >= got.size() || !(got[i] == expected[i])) {
      demos::wrong(what + ": element " + std::to_string(i) + " of " +
                   std::to_string(expected.size()));
    }
  }
  if (got.size() != expected.size()) demos::wrong(what + ": too long");
}

/// reduce() vnode by vnode, with the result as messages: one for each piece of a long array.
template <class Make>
auto contributed(phx::Session& job, phx::Vnode target, Op op, const Make& make) {
  phx::Ticket ticket;
  for (const phx::Vnode v : job.held()) ticket = job.contribute(v, target, op, make(v), false);
  std::optional<decltype(make(target))> whole;
  if (!job.holds(target)) return whole;
  std::map<std::uint64_t, decltype(make(target))> pieces;
  while (pieces.size() < ticket.pieces) {
    const phx::Message piece = job.recv({.at = target, .kind = phx::Kind::kReduced});
    pieces[piece.number] = piece.as<decltype(make(target))>();
  }
  whole.emplace();
  for (const auto& [number, piece] : pieces)
    whole->insert(whole->end(), piece.begin(), piece.end());
  return whole;
}

/// allreduce(), reduce() and, of operators that it takes, contribute() in turn, of arrays that
/// `make(v)` makes.
template <class Make, class Combine, class Fold>
void try_all(phx::Session& job, std::uint64_t round, const std::string& what, const Make& make,
             const Combine& op, const Fold& fold) {
  auto expected = make(0);
  for (phx::Vnode v = 1; v < job.vnodes(); ++v) fold(expected, make(v));
  check_equal(job.allreduce(op, make), expected, what + ", allreduce");
  const phx::Vnode target = round % job.vnodes();
  const auto check = [&](const auto& got, const std::string& call) {
    if (got) check_equal(*got, expected, what + ", " + call + " to v" + std::to_string(target));
    if (got.has_value() != job.holds(target)) demos::wrong(what + ": the result is elsewhere");
  };
  check(job.reduce(target, op, make), "reduce");
  if constexpr (std::is_same_v<Combine, Op>) {
    check(contributed(job, target, op, make), "contribute");
  }
}

template <class E>
void add_trials(std::vector<Trial>& trials, const std::string& type, Op op, const std::string& name,
                const std::vector<std::size_t>& lengths) {
  const bool is_bits = op == phx::bit_and || op == phx::bit_or || op == phx::bit_xor;
  if (is_bits && !std::is_integral_v<E>) return;
  for (const std::size_t length : lengths) {
    const std::string what = name + " of " + std::to_string(length) + " " + type;
    trials.push_back({name, [=](phx::Session& job, std::uint64_t round) {
                        const auto make = [=](phx::Vnode v) {
                          std::vector<E> values(length);
                          for (std::size_t i = 0; i < length; ++i) values[i] = value<E>(op, v, i);
                          return values;
                        };
                        const auto fold = [=](std::vector<E>& into, const std::vector<E>& from) {
                          for (std::size_t i = 0; i < length; ++i) {
                            into[i] = apply<E>(op, into[i], from[i]);
                          }
                        };
                        try_all(job, round, what, make, op, fold);
                      }});
  }
}

void add_operator(std::vector<Trial>& trials, Op op, const std::string& name,
                  const std::vector<std::size_t>& lengths) {
  add_trials<std::int8_t>(trials, "int8", op, name, lengths);
  add_trials<std::uint8_t>(trials, "uint8", op, name, lengths);
  add_trials<std::int16_t>(trials, "int16", op, name, lengths);
  add_trials<std::uint16_t>(trials, "uint16", op, name, lengths);
  add_trials<std::int32_t>(trials, "int32", op, name, lengths);
  add_trials<std::uint32_t>(trials, "uint32", op, name, lengths);
  add_trials<std::int64_t>(trials, "int64", op, name, lengths);
  add_trials<std::uint64_t>(trials, "uint64", op, name, lengths);
  add_trials<float>(trials, "float", op, name, lengths);
  add_trials<double>(trials, "double", op, name, lengths);
}

/// A product that depends on the order: 2 x 2 matrices, modulo 2^64.
struct Matrix {
  std::uint64_t a = 1, b = 0, c = 0, d = 1;
  friend bool operator==(const Matrix&, const Matrix&) = default;
};
Matrix times(const Matrix& l, const Matrix& r) {
  return {l.a * r.a + l.b * r.c, l.a * r.b + l.b * r.d, l.c * r.a + l.d * r.c,
          l.c * r.b + l.d * r.d};
}

/// User-defined operators: associative, but not commutative.
void add_own_operators(std::vector<Trial>& trials, const std::vector<std::size_t>& lengths) {
  for (const std::size_t length : lengths) {
    trials.push_back({"own: matrices", [=](phx::Session& job, std::uint64_t round) {
                        const auto make = [=](phx::Vnode v) {
                          std::vector<Matrix> values(length);
                          for (std::size_t i = 0; i < length; ++i) {
                            values[i] = {v + i, demos::mix(v), 1, v * 3 + 1};
                          }
                          return values;
                        };
                        const auto fold = [](std::vector<Matrix>& into, const auto& from) {
                          for (std::size_t i = 0; i < into.size(); ++i) {
                            into[i] = times(into[i], from[i]);
                          }
                        };
                        try_all(job, round, std::to_string(length) + " matrices", make, &times,
                                fold);
                      }});
  }
  trials.push_back({"own: text", [](phx::Session& job, std::uint64_t round) {
                      const auto make = [](phx::Vnode v) { return std::to_string(v) + " "; };
                      const auto join = [](const std::string& l, const std::string& r) {
                        return l + r;
                      };
                      const auto fold = [](std::string& l, const std::string& r) { l += r; };
                      try_all(job, round, "text", make, join, fold);
                    }});
}

std::vector<Trial> all_trials(const std::vector<std::size_t>& lengths) {
  std::vector<Trial> trials;
  add_operator(trials, phx::sum, "sum", lengths);
  add_operator(trials, phx::product, "product", lengths);
  add_operator(trials, phx::min, "min", lengths);
  add_operator(trials, phx::max, "max", lengths);
  add_operator(trials, phx::logical_and, "logical and", lengths);
  add_operator(trials, phx::logical_or, "logical or", lengths);
  add_operator(trials, phx::logical_xor, "logical xor", lengths);
  add_operator(trials, phx::bit_and, "bit and", lengths);
  add_operator(trials, phx::bit_or, "bit or", lengths);
  add_operator(trials, phx::bit_xor, "bit xor", lengths);
  add_own_operators(trials, lengths);
  return trials;
}

int reduce(phx::Session& job, const std::vector<std::size_t>& lengths, std::uint64_t repeats) {
  const std::vector<Trial> trials = all_trials(lengths);
  phx::Objects<Progress> all(job);
  const std::uint64_t rounds = trials.size() * repeats;
  while (job.safe_point()) {
    const std::uint64_t round = all.begin()->second.round;
    const std::size_t at = round % trials.size();
    trials[at].go(job, round);
    for (auto& [v, progress] : all) ++progress.round;
    const bool is_last = at + 1 == trials.size() || trials[at + 1].what != trials[at].what;
    if (is_last && job.holds(0)) say("%-14s right", trials[at].what.c_str());
    if (round + 1 < rounds) continue;
    // Wrong results have ended the job before: here everybody has had right ones.
    const auto done = job.allreduce(phx::sum, [&](phx::Vnode v) { return all[v].round; });
    if (done != rounds * job.vnodes()) demos::wrong("not every vnode took part in every trial");
    if (job.holds(0)) {
      say("reduce: %llu reductions to all and %llu to one of %llu vnodes, equal to the sequential "
          "results",
          static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(rounds),
          static_cast<unsigned long long>(job.vnodes()));
    }
    return 0;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> lengths{1, 100, 20'000};
  std::uint64_t repeats = 1;
  const phx::options::Program app(
      "Reductions by every operator and type, compared with the sequential results");
  app.add_option("--length", lengths, "Elements of the arrays")
      .check(phx::options::range(std::size_t{1}, std::size_t{1} << 24U))
      .capture_default_str();
  app.add_option("--repeat", repeats, "How often all of it")
      .check(demos::number_within(1, 1e9))
      .capture_default_str();
  if (const auto code = demos::read_options(app, "reduce", argc, argv)) return *code;
  return demos::run("reduce", [&](phx::Session& job) { return reduce(job, lengths, repeats); });
}
