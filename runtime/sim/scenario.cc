#include "runtime/sim/scenario.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <type_traits>

namespace phx::sim {
namespace {

constexpr std::string_view kRule = "----";
constexpr Duration kBound = 60s;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "5ms", "2s", "300us", with or without a plus sign.
std::optional<Duration> duration(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  struct Unit {
    std::string_view name;
    Duration length;
  };
  static constexpr std::array kUnits = {Unit{"us", 1us}, Unit{"ms", 1ms}, Unit{"s", 1s}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto count = number(text.substr(0, text.size() - unit.name.size()));
    constexpr std::uint64_t kMost = 1'000'000'000;
    if (count && *count <= kMost) return unit.length * static_cast<Duration::rep>(*count);
  }
  return std::nullopt;
}

std::optional<ProcessorId> processor(std::string_view text) {
  if (!text.starts_with('p')) return std::nullopt;
  const auto value = number(text.substr(1));
  if (!value) return std::nullopt;
  return ProcessorId{static_cast<std::uint32_t>(*value)};
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t first = text.find_first_not_of(separators);
    if (first == std::string_view::npos) return parts;
    const std::size_t end = std::min(text.find_first_of(separators, first), text.size());
    parts.emplace_back(text.substr(first, end - first));
    text.remove_prefix(end);
  }
}

Scenario::Statement parse_statement(std::string_view text) {
  Scenario::Statement statement;
  for (const std::string& word : split(text, " \t\r\n")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      statement.words.push_back(word);
    } else {
      statement.values[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return statement;
}

/// Sets `into` from the statement's value `key`, if there is one. False: it cannot be read.
template <class T>
bool read(const Scenario::Statement& statement, const std::string& key, T& into) {
  const auto found = statement.values.find(key);
  if (found == statement.values.end()) return true;
  if constexpr (std::is_same_v<T, Duration>) {
    const auto value = duration(found->second);
    if (value) into = *value;
    return value.has_value();
  } else {
    const auto value = number(found->second);
    if (value) into = static_cast<T>(*value);
    return value.has_value();
  }
}

}  // namespace

ScenarioFile split_scenario(std::string_view text) {
  ScenarioFile file;
  bool is_script = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (is_script && line == kRule) {
      is_script = false;
    } else if (is_script) {
      file.script.append(line).append(1, '\n');
    } else {
      file.transcript.emplace_back(line);
    }
  }
  return file;
}

std::string join_scenario(const ScenarioFile& file) {
  std::string text = file.script;
  text.append(kRule).append(1, '\n');
  for (const std::string& line : file.transcript) text.append(line).append(1, '\n');
  return text;
}

std::string Scenario::on_cluster(const Statement& statement) {
  std::vector<std::uint32_t> sites;
  const auto listed = statement.values.find("sites");
  if (listed == statement.values.end()) return "needs sites=";
  for (const std::string& part : split(listed->second, ",")) {
    const auto count = number(part);
    if (!count || *count == 0) return "sites= takes numbers of processors";
    sites.push_back(static_cast<std::uint32_t>(*count));
  }
  overlay::Topology::Link link;
  link.latency = 10ms;
  ClusterOptions options;
  if (!read(statement, "wan", link.latency) || !read(statement, "seed", options.seed) ||
      !read(statement, "split", options.checks.may_split)) {
    return "cannot read wan=, seed= or split=";
  }
  options.topology = overlay::Topology::uniform(sites, link);
  options.keeps_lines = true;
  options.machine.wire = wire_;
  cluster_ = std::make_unique<Cluster>(std::move(options));
  cluster_->add_all();
  return {};
}

std::string Scenario::on_show(const Statement& statement) {
  shown_.assign(statement.words.begin() + 1, statement.words.end());
  return {};
}

std::string Scenario::on_stabilize(const Statement&) {
  return cluster_->stabilize(kBound) ? "" : "the mesh does not come together";
}

std::string Scenario::on_job(const Statement& statement) {
  WorkloadOptions options;
  const bool is_read =
      read(statement, "vnodes", options.vnodes) && read(statement, "messages", options.messages) &&
      read(statement, "broadcasts", options.broadcasts) &&
      read(statement, "reductions", options.reductions) &&
      read(statement, "lasts", options.lasts) && read(statement, "state", options.state_bytes) &&
      read(statement, "on", options.processors_max);
  if (!is_read || options.vnodes == 0) return "cannot read a value";
  job_ = &cluster_->run_job(options);
  const bool runs = cluster_->run_until(
      [this, &options] {
        for (std::uint64_t v = 0; v < options.vnodes; ++v) {
          if (!job_->ledger().holder(VnodeId{v})) return false;
        }
        return true;
      },
      kBound);
  return runs ? "" : "the job does not start";
}

std::string Scenario::at(const Statement& statement, std::function<void()> action) {
  Duration delay{};
  if (!read(statement, "at", delay)) return "cannot read at=";
  cluster_->agenda().schedule_in(delay, std::move(action));
  return {};
}

std::string Scenario::on_join(const Statement& statement) {
  std::size_t site = 0;
  if (!read(statement, "site", site)) return "cannot read site=";
  if (site >= cluster_->model().topology().sites.size()) return "no such site";
  return at(statement, [this, site] { cluster_->add_machine(site); });
}

std::string Scenario::on_processor(const Statement& statement) {
  if (statement.words.size() < 2) return "needs a processor";
  const auto id = processor(statement.words[1]);
  if (!id) return "not a processor: " + statement.words[1];
  return befall(statement.words[0], *id, statement);
}

/// By itself, or as a tool asks for it at `daemon`.
void drain(Cluster& cluster, const std::optional<MachineId>& daemon, MachineId machine) {
  if (daemon) return cluster.order_drain(*daemon, machine);
  cluster.drain(machine);
}

void release(Process* process, std::uint64_t count) {
  if (process != nullptr) process->release(process->endpoint().held().last_ids(count));
}

std::string Scenario::befall(const std::string& verb, ProcessorId id, const Statement& statement) {
  Duration length = 500ms;
  std::uint64_t count = 1;
  if (!read(statement, "for", length) || !read(statement, "count", count)) {
    return "cannot read for= or count=";
  }
  const auto via = statement.values.find("via");
  const auto asked = via == statement.values.end() ? std::nullopt : processor(via->second);
  return at(statement, [this, verb, id, length, count, asked] {
    const auto machine = cluster_->find(id);
    if (!machine || !cluster_->machine(*machine).is_running()) {
      cluster_->violations().add("script: no " + to_string(id) + " to " + verb);
      return;
    }
    const auto daemon = asked ? cluster_->find(*asked) : std::nullopt;
    if (verb == "drain") drain(*cluster_, daemon, *machine);
    if (verb == "down") cluster_->order_down(*machine);
    if (verb == "kill" || verb == "lose") cluster_->kill(*machine, verb == "lose");
    if (verb == "freeze") cluster_->freeze(*machine, length);
    if (verb == "cut") {
      cluster_->network().cut_off({*machine});
      cluster_->agenda().schedule_in(length, [this] { cluster_->network().heal(); });
    }
    if (verb == "release") release(cluster_->machine(*machine).process(), count);
  });
}

std::string Scenario::on_break(const Statement& statement) {
  const auto how = statement.words.size() > 1 && statement.words[1] == "half-open"
                       ? Network::Break::kHalfOpen
                       : Network::Break::kBoth;
  std::uint64_t count = 1;
  if (!read(statement, "count", count)) return "cannot read count=";
  return at(statement, [this, how, count] {
    for (std::uint64_t i = 0; i < count; ++i) cluster_->network().break_one(how);
  });
}

std::string Scenario::on_run(const Statement& statement) {
  const auto length = statement.words.size() > 1 ? duration(statement.words[1]) : std::nullopt;
  if (!length) return "needs a duration";
  cluster_->run_for(*length);
  return {};
}

std::string Scenario::on_finish(const Statement&) {
  if (job_ == nullptr) return "needs a job";
  const auto& result = cluster_->result(*job_);
  if (!cluster_->run_until([&] { return result.has_value(); }, kBound)) {
    cluster_->violations().add("the job does not end; " + cluster_->describe());
  } else if (result->code == 0 && job_->ledger().outstanding() > 0) {
    cluster_->violations().add("the job ended without " + job_->ledger().missing());
  }
  cluster_->run_for(1s);
  return {};
}

std::string Scenario::run(const Statement& statement) {
  using Handler = std::string (Scenario::*)(const Statement&);
  static const std::map<std::string, Handler> kVerbs = {
      {"cluster", &Scenario::on_cluster},     {"show", &Scenario::on_show},
      {"stabilize", &Scenario::on_stabilize}, {"job", &Scenario::on_job},
      {"join", &Scenario::on_join},           {"drain", &Scenario::on_processor},
      {"down", &Scenario::on_processor},      {"kill", &Scenario::on_processor},
      {"lose", &Scenario::on_processor},      {"freeze", &Scenario::on_processor},
      {"release", &Scenario::on_processor},   {"cut", &Scenario::on_processor},
      {"break", &Scenario::on_break},         {"run", &Scenario::on_run},
      {"finish", &Scenario::on_finish}};
  const std::string verb = statement.words.empty() ? "" : statement.words[0];
  const auto found = kVerbs.find(verb);
  if (found == kVerbs.end()) return "unknown verb";
  if (!cluster_ && verb != "cluster" && verb != "show") return "before the statement 'cluster'";
  return (this->*found->second)(statement);
}

ScenarioOutcome Scenario::finish() {
  ScenarioOutcome outcome;
  if (!cluster_) return outcome;
  for (const std::string& line : cluster_->transcript().lines()) {
    const auto words = split(line, " ");
    const bool of_processor = words.size() > 1 && processor(words[1]).has_value();
    const bool is_shown = shown_.empty() || !of_processor ||
                          std::find(shown_.begin(), shown_.end(), words[1]) != shown_.end();
    if (is_shown) outcome.transcript.push_back(line);
  }
  if (job_ != nullptr) {
    const Ledger::Counters& counters = job_->ledger().counters();
    outcome.transcript.push_back("verified messages=" + std::to_string(counters.messages) +
                                 " broadcasts=" + std::to_string(counters.broadcasts) +
                                 " results=" + std::to_string(counters.results) +
                                 " moves=" + std::to_string(counters.moves));
  }
  outcome.violations = cluster_->violations().all();
  return outcome;
}

Result<ScenarioOutcome> run_scenario(std::string_view script, bool wire) {
  std::string code;
  for (const std::string& line : split(script, "\n")) {
    code.append(line.substr(0, line.find('#'))).append(1, ';');
  }
  Scenario scenario(wire);
  for (const std::string& text : split(code, ";")) {
    const Scenario::Statement statement = parse_statement(text);
    if (statement.words.empty() && statement.values.empty()) continue;
    if (const std::string wrong = scenario.run(statement); !wrong.empty()) {
      return Error{ErrorCode::kBadInput, "'" + text + "': " + wrong};
    }
  }
  return scenario.finish();
}

}  // namespace phx::sim
