#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/style/rules.h"

namespace phx::style {
namespace {

/// Functions that exist to be called by tests, by decision: every machine has check_invariants().
bool is_for_tests(const std::string& function) {
  return function.find("check_invariants") != std::string::npos ||
         function.find("::join_scenario") != std::string::npos;
}

/// Our own, and neither compiler-made nor a piece of one.
bool is_own_function(const std::string& name) {
  const auto has = [&](const char* piece) { return name.find(piece) != std::string::npos; };
  return name.starts_with("phx::") && has("(") && !has("[clone") && !has("(anonymous namespace)") &&
         !has("::~") && !has("operator");
}

/// "f" of "phx::a::C::f[abi:cxx11](std::map<int, int>) const".
std::string last_name(const std::string& function) {
  const std::size_t end = function.find_first_of("([");
  const std::size_t colon = function.rfind(':', end);
  return function.substr(colon + 1, end - colon - 1);
}

/// How often each word stands in code that is not a test.
std::map<std::string, std::size_t> count_words(const SourceTree& tree) {
  static const std::regex word(R"([A-Za-z_]\w*)");
  std::map<std::string, std::size_t> counts;
  for (const auto& [path, file] : tree.files()) {
    if (file.is_below("tests")) continue;
    for (const std::string& line : file.code) {
      for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it) {
        ++counts[it->str()];
      }
    }
  }
  return counts;
}

}  // namespace

std::vector<ObjectFile> parse_nm(const std::string& output) {
  static const std::regex symbol(R"(^[0-9a-f ]{16} ([TU]) (.*)$)");
  std::vector<ObjectFile> objects;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, symbol)) {
      if (objects.empty()) objects.push_back({});
      auto& names = match[1] == "T" ? objects.back().defined : objects.back().undefined;
      names.push_back(match[2]);
    } else if (line.ends_with(":")) {
      objects.push_back({line.substr(0, line.size() - 1), {}, {}});
    }
  }
  return objects;
}

Violations unused_function_rules(const SourceTree& tree, const std::vector<ObjectFile>& objects,
                                 const std::vector<std::string>& exempt) {
  constexpr std::size_t kDeclaredAndDefined = 2;
  std::set<std::string> used;
  for (const ObjectFile& object : objects) {
    used.insert(object.undefined.begin(), object.undefined.end());
  }
  const std::map<std::string, std::size_t> words = count_words(tree);
  Violations violations;
  for (const ObjectFile& object : objects) {
    if (std::find(exempt.begin(), exempt.end(), object.name) != exempt.end()) continue;
    for (const std::string& function : object.defined) {
      if (!is_own_function(function) || is_for_tests(function) || used.contains(function)) continue;
      const auto count = words.find(last_name(function));
      const bool in_own_file = count != words.end() && count->second > kDeclaredAndDefined;
      if (!in_own_file) violations.push_back({object.name, 0, function + " is used by nobody"});
    }
  }
  return violations;
}

}  // namespace phx::style
