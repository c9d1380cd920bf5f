#include "overlay/network/topology.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace phx::overlay {
namespace {

constexpr double kBytesPerMegabit = 125'000;

using LineWords = std::vector<std::string_view>;

LineWords split(std::string_view line) {
  LineWords words;
  line = line.substr(0, line.find('#'));
  while (true) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(" \t\r", first), line.size());
    words.push_back(line.substr(first, end - first));
    line.remove_prefix(end);
  }
}

std::optional<std::uint64_t> number(std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

/// "200" or "0.4".
std::optional<double> decimal(std::string_view text, double most) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (!is_number || !(value >= 0 && value <= most)) return std::nullopt;
  return value;
}

/// To a nanosecond.
std::optional<Duration> microseconds(std::string_view text) {
  constexpr double kMost = 3.6e9;
  const auto value = decimal(text, kMost);
  if (!value) return std::nullopt;
  return Duration(std::llround(*value * 1000));
}

/// To a byte per second; only "0" is none, which is unlimited.
std::optional<std::uint64_t> megabits(std::string_view text) {
  constexpr double kMost = 1e7;
  const auto value = decimal(text, kMost);
  if (!value) return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(std::llround(*value * kBytesPerMegabit));
  return *value > 0 ? std::max<std::uint64_t>(bytes, 1) : 0;
}

/// Thousandths or millionths behind the point, without those that say nothing.
std::string with_decimals(std::uint64_t whole, std::uint64_t parts, std::uint64_t parts_in_one) {
  std::string part = std::to_string(parts_in_one + parts).substr(1);
  part.erase(part.find_last_not_of('0') + 1);
  return std::to_string(whole) + (part.empty() ? "" : "." + part);
}

std::string at_line(std::size_t line, const std::string& wrong) {
  return "line " + std::to_string(line) + ": " + wrong;
}

/// Fills a topology line by line. Lines about pairs of sites are kept until all sites are known.
class Reader {
 public:
  /// Empty, or what is wrong with which line.
  std::string read(const LineWords& words);
  std::string finish();
  Topology topology;

 private:
  using Handler = std::string (Reader::*)(const LineWords&);
  struct PairLine {
    std::size_t number = 0;
    std::string first;
    std::string second;
    std::optional<Duration> latency;
    std::optional<std::uint64_t> bytes_per_second;

    void set(Topology::Link& link) const {
      if (latency) link.latency = *latency;
      if (bytes_per_second) link.bytes_per_second = *bytes_per_second;
    }
  };

  std::string on_site(const LineWords& words);
  std::string on_intra(const LineWords& words);
  std::string on_latency(const LineWords& words);
  std::string on_link(const LineWords& words);
  std::string on_nic(const LineWords& words);
  std::string on_overhead(const LineWords& words);
  std::string on_window(const LineWords& words);
  std::string on_pair(PairLine line);
  std::string on_words(const LineWords& words);
  [[nodiscard]] std::optional<std::size_t> index_of(const std::string& name) const;
  std::string apply(const PairLine& line);

  std::size_t line_ = 0;
  std::vector<PairLine> pairs_;
  std::vector<bool> own_latency_;  ///< Per site: its line gave one.
  std::optional<Duration> intra_;
};

std::string Reader::read(const LineWords& words) {
  ++line_;
  const std::string wrong = words.empty() ? "" : on_words(words);
  return wrong.empty() ? "" : at_line(line_, wrong);
}

std::string Reader::on_words(const LineWords& words) {
  struct Keyword {
    std::string_view name;
    std::size_t least;
    std::size_t most;
    Handler handler;
  };
  static constexpr std::array kKeywords = {Keyword{"site", 3, 4, &Reader::on_site},
                                           Keyword{"intra", 2, 2, &Reader::on_intra},
                                           Keyword{"latency", 4, 4, &Reader::on_latency},
                                           Keyword{"link", 4, 4, &Reader::on_link},
                                           Keyword{"nic", 2, 2, &Reader::on_nic},
                                           Keyword{"overhead", 2, 2, &Reader::on_overhead},
                                           Keyword{"window", 2, 2, &Reader::on_window}};
  for (const Keyword& keyword : kKeywords) {
    if (keyword.name != words[0]) continue;
    if (words.size() < keyword.least || words.size() > keyword.most) {
      return "'" + std::string(words[0]) + "' has a wrong number of words";
    }
    return (this->*keyword.handler)(words);
  }
  return "unknown keyword '" + std::string(words[0]) + "'";
}

std::string Reader::on_site(const LineWords& words) {
  constexpr std::uint64_t kProcessorsMax = 100'000;
  const auto count = number(words[2], kProcessorsMax);
  if (!count) return "not a number of processors: '" + std::string(words[2]) + "'";
  if (words[1] == "*" || index_of(std::string(words[1]))) return "this name cannot be used (again)";
  Topology::Site site{std::string(words[1]), static_cast<std::uint32_t>(*count), 50us};
  own_latency_.push_back(words.size() > 3);
  if (words.size() > 3) {
    const auto latency = microseconds(words[3]);
    if (!latency) return "not a latency in microseconds: '" + std::string(words[3]) + "'";
    site.latency = *latency;
  }
  topology.sites.push_back(std::move(site));
  return {};
}

std::string Reader::on_intra(const LineWords& words) {
  intra_ = microseconds(words[1]);
  return intra_ ? "" : "not a latency in microseconds: '" + std::string(words[1]) + "'";
}

std::string Reader::on_latency(const LineWords& words) {
  const auto latency = microseconds(words[3]);
  if (!latency) return "not a latency in microseconds: '" + std::string(words[3]) + "'";
  return on_pair({line_, std::string(words[1]), std::string(words[2]), latency, std::nullopt});
}

std::string Reader::on_pair(PairLine line) {
  if (line.first == line.second && line.first != "*") {
    return "inside a site: 'site " + line.first + " N LATENCY' or 'intra'";
  }
  pairs_.push_back(std::move(line));
  return {};
}

std::string Reader::on_link(const LineWords& words) {
  const auto rate = megabits(words[3]);
  if (!rate) return "not a bandwidth in Mbit/s: '" + std::string(words[3]) + "'";
  return on_pair({line_, std::string(words[1]), std::string(words[2]), std::nullopt, *rate});
}

std::string Reader::on_nic(const LineWords& words) {
  const auto rate = megabits(words[1]);
  if (!rate) return "not a bandwidth in Mbit/s: '" + std::string(words[1]) + "'";
  topology.interface_bytes_per_second = *rate;
  return {};
}

std::string Reader::on_overhead(const LineWords& words) {
  const auto overhead = microseconds(words[1]);
  if (!overhead) return "not a time in microseconds: '" + std::string(words[1]) + "'";
  topology.overhead = *overhead;
  return {};
}

std::string Reader::on_window(const LineWords& words) {
  constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 30U;
  const auto bytes = number(words[1], kBytesMax);
  if (!bytes) return "not a number of bytes: '" + std::string(words[1]) + "'";
  topology.window_bytes = *bytes;
  return {};
}

std::optional<std::size_t> Reader::index_of(const std::string& name) const {
  for (std::size_t i = 0; i < topology.sites.size(); ++i) {
    if (topology.sites[i].name == name) return i;
  }
  return std::nullopt;
}

std::string Reader::apply(const PairLine& line) {
  for (const std::string& name : {line.first, line.second}) {
    if (name != "*" && !index_of(name)) return "there is no site '" + name + "'";
  }
  const auto matches = [&](const std::string& pattern, std::size_t site) {
    return pattern == "*" || pattern == topology.sites[site].name;
  };
  const std::size_t count = topology.sites.size();
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      if (a == b || !matches(line.first, a) || !matches(line.second, b)) continue;
      line.set(topology.links[a * count + b]);
      line.set(topology.links[b * count + a]);
    }
  }
  return {};
}

std::string Reader::finish() {
  if (topology.sites.empty()) return "no site";
  for (std::size_t i = 0; i < topology.sites.size(); ++i) {
    if (intra_ && !own_latency_[i]) topology.sites[i].latency = *intra_;
  }
  topology.links.assign(topology.sites.size() * topology.sites.size(), {});
  for (const PairLine& line : pairs_) {
    if (const std::string wrong = apply(line); !wrong.empty()) return at_line(line.number, wrong);
  }
  return {};
}

}  // namespace

std::string in_microseconds(Duration duration) {
  constexpr std::uint64_t kParts = 1000;
  const auto count = static_cast<std::uint64_t>(duration.count());
  return with_decimals(count / kParts, count % kParts, kParts);
}

std::string in_megabits(std::uint64_t bytes_per_second) {
  constexpr std::uint64_t kParts = 1'000'000;
  constexpr std::uint64_t kBytes = 125'000;
  return with_decimals(bytes_per_second / kBytes, bytes_per_second % kBytes * 8, kParts);
}

Topology Topology::uniform(const std::vector<std::uint32_t>& processors, const Link& between) {
  Topology result;
  for (const std::uint32_t count : processors) {
    result.sites.push_back({"s" + std::to_string(result.sites.size()), count, 50us});
  }
  result.links.assign(processors.size() * processors.size(), between);
  return result;
}

std::uint32_t Topology::processors() const {
  std::uint32_t sum = 0;
  for (const Site& site : sites) sum += site.processors;
  return sum;
}

Result<Topology> Topology::parse(std::string_view text) {
  Reader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const std::string wrong = reader.read(split(text.substr(0, end))); !wrong.empty()) {
      return Error{ErrorCode::kBadInput, wrong};
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (const std::string wrong = reader.finish(); !wrong.empty()) {
    return Error{ErrorCode::kBadInput, wrong};
  }
  return std::move(reader.topology);
}

}  // namespace phx::overlay
