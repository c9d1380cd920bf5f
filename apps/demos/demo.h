#pragma once

#include <phoenix.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/options/parser.h"

/// What the demos have in common.
namespace demos {

/// Reads the command line of the demo `name`. A value: the program ends with that exit code, having
/// said why; 2: misuse. With `--check-options` it ends here in any case, so that `phoenix demo` can
/// ask before it starts anything. `wrong`: what does not fit together; empty: all does.
[[nodiscard]] std::optional<int> read_options(
    const phx::options::Program& app, const std::string& name, int argc, char** argv,
    const std::function<std::string()>& wrong = [] { return std::string(); });

/// For sizes: "100", "64K", "4M" become bytes, from 1 to 1 GiB. (Messages may have more.)
[[nodiscard]] phx::options::Check size_in_bytes();
/// For numbers: refuses others with the two bounds in its words, and what is no number.
[[nodiscard]] phx::options::Check number_within(double least, double most);

/// Attaches and runs `demo(job)`. An exception becomes the reason for the end of the whole job, and
/// exit code 1. (Without the catch here, the job would end without saying why.)
template <class Demo>
[[nodiscard]] int run(const char* name, const Demo& demo) {
  try {
    phx::Session job;
    try {
      return demo(job);
    } catch (const std::exception& failure) {
      job.abort(1, std::string(name) + ": " + failure.what());
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", name, failure.what());
  }
  return 1;
}

/// A result was wrong: throws, so that the whole job ends with exit code 1.
[[noreturn]] void wrong(const std::string& what);

/// One line on stdout, out at once.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);

/// Bytes that follow from `seed` alone.
[[nodiscard]] std::vector<std::byte> make_bytes(std::uint64_t seed, std::size_t size);
/// XXH3, 64 bits.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);
/// A well-mixed number that follows from `seed` alone [Steele14, splitmix].
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t seed) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// As people write them: "64 B", "1 MiB", "3.2 ms".
[[nodiscard]] std::string spell_bytes(std::uint64_t bytes);
[[nodiscard]] std::string spell_seconds(double seconds);
[[nodiscard]] std::string spell_rate(double bytes_per_second);

/// Seconds since 1970: the clock that processes of one machine have in common.
[[nodiscard]] double clock_s();

}  // namespace demos
