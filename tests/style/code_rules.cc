#include <algorithm>
#include <array>
#include <regex>

#include "tests/style/rules.h"

namespace phx::style {
namespace {

/// Everything that must give the same result for the same inputs, on every machine.
bool is_core(const SourceFile& file) {
  const bool is_driver = file.is_below("runtime/tcp") || file.is_below("runtime/local") ||
                         file.is_below("runtime/api") || file.is_below("runtime/mpi") ||
                         file.is_below("runtime/wire");
  const bool is_library =
      file.is_below("overlay") || file.is_below("collectives") || file.is_below("runtime");
  return file.is_cpp() && is_library && !is_driver;
}

bool may_throw(const SourceFile& file) {
  return !file.is_below("overlay") && !file.is_below("collectives") &&
         (!file.is_below("runtime") || file.is_below("runtime/api") ||
          file.is_below("runtime/mpi"));
}

/// Whether line `i` or one of the three before it has `word`, in a comment or not.
bool explained(const SourceFile& file, std::size_t i, const std::string& word) {
  for (std::size_t back = 0; back <= 3 && back <= i; ++back) {
    if (file.lines[i - back].find(word) != std::string::npos) return true;
  }
  return false;
}

std::size_t indentation(const std::string& line) {
  return line.find_first_not_of(' ');
}

}  // namespace

Violations purity_rules(const SourceTree& tree) {
  static const std::regex impure(
      R"(\b(system_clock|steady_clock|high_resolution_clock|random_device|mt19937\w*|)"
      R"(default_random_engine|\w+_distribution|jthread|sleep_for|sleep_until|getenv|)"
      R"(ifstream|ofstream|fopen|thread_local|mutex|atomic)\b|std::thread\b)");
  // A constant may be static, and so may a member function: it has parentheses.
  static const std::regex mutable_static(
      R"(^\s*(inline\s+)?static\s+)"
      R"((?!const\b|constexpr\b|constinit const\b|inline const)[^()]*[;={])");
  static const std::regex unordered(R"(\bunordered_(map|set|multimap|multiset)\b)");
  Violations violations;
  for (const auto& [path, file] : tree.files()) {
    if (!is_core(file)) continue;
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      std::smatch match;
      if (std::regex_search(file.code[i], match, impure)) {
        violations.push_back({path, i + 1, "the core does not use " + match.str()});
      }
      if (std::regex_search(file.code[i], mutable_static)) {
        violations.push_back({path, i + 1, "a static that can change"});
      }
      if (std::regex_search(file.code[i], match, unordered) && !explained(file, i, "lookup") &&
          !explained(file, i, "look-up")) {
        violations.push_back(
            {path, i + 1, match.str() + " without the comment that it is for lookup only"});
      }
    }
  }
  return violations;
}

Violations symbol_rules(const std::string& archive, const std::string& undefined_symbols) {
  static constexpr std::array kBanned = {
      "_clock::now", "clock_gettime",    "gettimeofday",   "random_device",
      "getrandom",   "nanosleep",        "pthread_create", "_M_start_thread",
      " socket",     " getenv",          "basic_ofstream", "basic_ifstream",
      " fopen",      "google::protobuf", "asio::",         "spdlog::"};
  Violations violations;
  for (const char* banned : kBanned) {
    if (undefined_symbols.find(banned) != std::string::npos) {
      violations.push_back({archive, 0, "imports " + std::string(banned)});
    }
  }
  return violations;
}

Violations exception_rules(const SourceTree& tree) {
  static const std::regex throws(R"(\bthrow\b)");
  static const std::regex catches(R"(\bcatch\s*\()");
  Violations violations;
  for (const auto& [path, file] : tree.files()) {
    if (!file.is_cpp() || may_throw(file)) continue;
    const bool has_coroutines = file.is_below("runtime/tcp") || file.is_below("runtime/local");
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      if (std::regex_search(file.code[i], throws)) {
        violations.push_back({path, i + 1, "nothing below the api throws"});
      }
      const bool at_top = has_coroutines && explained(file, i, "coroutine");
      if (std::regex_search(file.code[i], catches) && !at_top) {
        violations.push_back({path, i + 1, "only the top of a coroutine catches, and says so"});
      }
    }
  }
  return violations;
}

Violations chain_rules(const SourceTree& tree) {
  constexpr std::size_t kLinks = 3;
  Violations violations;
  for (const auto& [path, file] : tree.files()) {
    if (!file.is_cpp()) continue;
    std::map<std::size_t, std::size_t> links;  // by indentation
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      const std::string& line = file.code[i];
      if (indentation(line) == std::string::npos) continue;
      if (line.find("else if") != std::string::npos) {
        if (++links[indentation(line)] == kLinks + 1) {
          violations.push_back(
              {path, i + 1, "a chain of more than three else-ifs; use a table or a visit"});
        }
        continue;
      }
      // Anything at or left of the chain that is not its next link ends it.
      links.erase(links.lower_bound(indentation(line)), links.end());
    }
  }
  return violations;
}

}  // namespace phx::style
