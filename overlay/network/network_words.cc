#include "overlay/network/network_words.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace phx::overlay {
namespace {

using Number = std::optional<std::uint64_t>;

constexpr char kNothing = '-';

// --- Writing -----------------------------------------------------------------------------------

Number nanoseconds(const std::optional<Duration>& time) {
  return time ? Number(static_cast<std::uint64_t>(time->count())) : Number();
}

std::string spell(const Number& number) {
  return ' ' + (number ? std::to_string(*number) : std::string(1, kNothing));
}
std::string spell(const KnownNetwork::Way& way) {
  return spell(nanoseconds(way.latency)) + spell(way.bytes_per_second);
}
std::string spell(const KnownNetwork::Ability& ability) {
  return spell(nanoseconds(ability.overhead)) + spell(ability.out_bytes_per_second) +
         spell(ability.in_bytes_per_second) + spell(nanoseconds(ability.wait));
}

// --- Reading -----------------------------------------------------------------------------------

/// The words of one statement. What does not fit is remembered, and nothing else is read then.
class Words {
 public:
  explicit Words(std::string_view rest) : rest_(rest) {}
  [[nodiscard]] bool is_good() const { return is_good_ && rest_.empty(); }

  std::string_view next() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (word.empty()) is_good_ = false;
    return word;
  }
  Number number() {
    const std::string_view word = next();
    if (word.size() == 1 && word.front() == kNothing) return std::nullopt;
    return read<std::uint64_t>(word);
  }
  template <class Integer>
  Integer integer() {
    return read<Integer>(next());
  }
  std::optional<Duration> time() {
    const Number number = this->number();
    constexpr auto kMost = static_cast<std::uint64_t>(Duration::max().count());
    if (!number) return std::nullopt;
    if (*number > kMost) is_good_ = false;
    return Duration{static_cast<Duration::rep>(std::min(*number, kMost))};
  }
  KnownNetwork::Way way() {
    const auto latency = time();
    return {latency, number()};
  }
  KnownNetwork::Ability ability() {
    const auto overhead = time();
    const Number out = number();
    const Number in = number();
    return {overhead, out, in, time()};
  }
  /// As to_string() writes a set: "1-4,9".
  ProcessorSet processors() {
    ProcessorSet set;
    for (std::string_view left = next(); is_good_ && !left.empty();) {
      const std::size_t end = std::min(left.find(','), left.size());
      const std::string_view range = left.substr(0, end);
      left.remove_prefix(std::min(end + 1, left.size()));
      const std::size_t middle = range.find('-');
      const auto first = read<std::uint32_t>(range.substr(0, middle));
      const auto last =
          middle == std::string_view::npos ? first : read<std::uint32_t>(range.substr(middle + 1));
      if (first > last) is_good_ = false;
      if (is_good_) set.insert({ProcessorId{first}, ProcessorId{last}});
    }
    return set;
  }

 private:
  template <class Integer>
  Integer read(std::string_view word) {
    Integer value = 0;
    const char* const end = word.data() + word.size();
    const auto [at, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc{} || at != end) is_good_ = false;
    return value;
  }

  std::string_view rest_;
  bool is_good_ = true;
};

void read_site(Words& words, KnownNetwork& network) {
  const ProcessorSet processors = words.processors();
  network.sites.push_back({"", processors, words.time()});
}
void read_usual(Words& words, KnownNetwork& network) {
  network.usual = words.ability();
}
void read_odd(Words& words, KnownNetwork& network) {
  const ProcessorId processor{words.integer<std::uint32_t>()};
  network.odd[processor] = words.ability();
}
void read_way(Words& words, KnownNetwork& network) {
  const auto from = words.integer<std::size_t>();
  const auto to = words.integer<std::size_t>();
  network.between[{from, to}] = words.way();
}
void read_pair(Words& words, KnownNetwork& network) {
  const ProcessorId from{words.integer<std::uint32_t>()};
  const ProcessorId to{words.integer<std::uint32_t>()};
  network.pairs[{from, to}] = words.way();
}

bool read(Words& words, KnownNetwork& network) {
  constexpr std::pair<std::string_view, void (*)(Words&, KnownNetwork&)> kStatements[] = {
      {"site", read_site},
      {"usual", read_usual},
      {"odd", read_odd},
      {"way", read_way},
      {"pair", read_pair}};
  const std::string_view what = words.next();
  for (const auto& [name, reads] : kStatements) {
    if (what == name) reads(words, network);
  }
  const bool is_known = std::ranges::any_of(
      kStatements, [&](const auto& statement) { return statement.first == what; });
  return is_known && words.is_good();
}

}  // namespace

std::string in_words(const KnownNetwork& network) {
  std::string words = "usual" + spell(network.usual);
  for (const KnownNetwork::Site& site : network.sites) {
    words += ";site " + to_string(site.processors) + spell(nanoseconds(site.latency));
  }
  for (const auto& [ends, way] : network.between) {
    words += ";way" + spell(ends.first) + spell(ends.second) + spell(way);
  }
  for (const auto& [processor, ability] : network.odd) {
    words += ";odd" + spell(processor.value) + spell(ability);
  }
  for (const auto& [ends, way] : network.pairs) {
    words += ";pair" + spell(ends.first.value) + spell(ends.second.value) + spell(way);
  }
  return words;
}

Result<KnownNetwork> network_of_words(std::string_view words) {
  KnownNetwork network;
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    Words statement(rest.substr(0, end));
    if (!read(statement, network)) {
      return Error{ErrorCode::kBadInput,
                   "a network does not say '" + std::string(rest.substr(0, end)) + "'"};
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const Status good = network.check();
  if (!good.ok()) return good.error();
  return network;
}

}  // namespace phx::overlay
