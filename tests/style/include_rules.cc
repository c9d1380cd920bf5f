#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "tests/style/rules.h"

namespace phx::style {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

/// The headers of the system that "posix" stands for, by their first component.
bool is_posix(const std::string& party) {
  static const std::set<std::string> known = {
      "arpa",  "dirent",  "dlfcn", "fcntl",   "grp",     "ifaddrs", "linux", "net",
      "netdb", "netinet", "poll",  "pthread", "pty",     "pwd",     "sched", "signal",
      "spawn", "stdlib",  "sys",   "syslog",  "termios", "unistd"};
  return known.contains(party);
}

/// All targets of a folder taken together, because a folder is one room.
std::map<std::string, Layer> by_folder(const std::vector<Layer>& layers) {
  std::map<std::string, Layer> merged;
  for (const Layer& layer : layers) {
    Layer& all = merged[layer.folder];
    all.folder = layer.folder;
    all.folders.insert(all.folders.end(), layer.folders.begin(), layer.folders.end());
    all.parties.insert(all.parties.end(), layer.parties.begin(), layer.parties.end());
  }
  return merged;
}

/// What is wrong with this include line in this layer; empty if nothing is.
std::string complaint(const Layer& layer, const std::string& line, bool is_tested) {
  static const std::regex third_party(R"(^\s*#\s*include\s*<([^>./]+)[./])");
  static const std::regex own(R"re(^\s*#\s*include\s*"([^"]*)")re");
  std::smatch match;
  if (std::regex_search(line, match, third_party)) {
    const std::string party = match[1];
    const bool allowed = contains(layer.parties, party) || is_tested ||
                         (contains(layer.parties, "posix") && is_posix(party));
    if (!allowed) return "third party <" + party + "> is not allowed in " + layer.folder + "/";
  }
  // The parts of mpi.h stand beside it, wherever programs find it.
  const bool is_part = layer.folder == "runtime/mpi/include";
  if (!is_tested && !is_part && std::regex_search(line, match, own)) {
    const std::string path = match[1];
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return "\"" + path + "\" is not a full path from the root";
    const std::string folder = path.substr(0, slash);
    if (!contains(layer.folders, folder)) {
      return layer.folder + "/ does not use " + folder + "/, yet includes " + path;
    }
  }
  return "";
}

}  // namespace

std::vector<Layer> parse_layers(const std::string& text) {
  std::vector<Layer> layers;
  for (const std::string& line : split(text, '\n')) {
    std::vector<std::string> parts = split(line, '|');
    parts.resize(3);
    layers.push_back({parts[0], split(parts[1], ','), split(parts[2], ',')});
  }
  return layers;
}

Violations include_rules(const SourceTree& tree, const std::vector<Layer>& layers) {
  Violations violations;
  const std::map<std::string, Layer> folders = by_folder(layers);
  for (const auto& [path, file] : tree.files()) {
    if (!file.is_cpp()) continue;
    const auto layer = folders.find(file.folder());
    const bool is_tested = file.is_below("tests");  // tests may include anything
    if (layer == folders.end()) continue;           // the rule about dead files speaks of it
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string what = complaint(layer->second, file.lines[i], is_tested);
      if (!what.empty()) violations.push_back({path, i + 1, what});
    }
  }
  return violations;
}

Violations simulator_rules(const std::vector<Layer>& layers) {
  Violations violations;
  for (const Layer& layer : layers) {
    const bool is_tool = layer.folder.rfind("apps/phoenix", 0) == 0;  // and apps/phoenixd
    if (!is_tool || !contains(layer.folders, "runtime/sim")) continue;
    violations.push_back({layer.folder, 0, "uses the simulator"});
  }
  return violations;
}

Violations header_rules(const SourceTree& tree) {
  Violations violations;
  for (const auto& [path, file] : tree.files()) {
    if (!file.is_header()) continue;
    const auto first = std::find_if(file.code.begin(), file.code.end(), [](const auto& line) {
      return line.find_first_not_of(' ') != std::string::npos;
    });
    if (first == file.code.end() || *first != "#pragma once") {
      violations.push_back({path, 1, "the first thing in a header is #pragma once"});
    }
  }
  return violations;
}

Violations test_name_rules(const SourceTree& tree) {
  static const std::regex cut(R"re(^TEST_CASE\("[^"]*;)re");
  Violations violations;
  for (const auto& [path, file] : tree.files()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (!std::regex_search(file.lines[i], cut)) continue;
      violations.push_back({path, i + 1, "a semicolon in the name of a test"});
    }
  }
  return violations;
}

Violations dead_file_rules(const SourceTree& tree, const std::vector<std::string>& listed) {
  Violations violations;
  std::map<std::string, int> mentions;
  for (const std::string& path : listed) ++mentions[path];
  for (const auto& [path, file] : tree.files()) {
    // The outside consumer and the examples are projects of their own.
    const bool is_apart = file.is_below("tests/consumer") || file.is_below("apps/examples");
    if (!file.is_cpp() || is_apart) continue;
    const int count = mentions[path];
    if (count == 0) violations.push_back({path, 0, "belongs to no target"});
    if (count > 1) violations.push_back({path, 0, "belongs to more than one target"});
  }
  return violations;
}

Violations layout_rules(const std::vector<std::string>& paths) {
  static const std::regex top(
      R"((CMakeLists\.txt|CMakePresets\.json|README\.md|\.clang-format|\.clang-tidy|\.gitignore|)"
      R"(\.ci/run|(deploy|tests)/.*))");
  static const std::regex code(R"((overlay|collectives|runtime|apps)/([a-z_0-9]+/)*)"
                               R"(([a-z_0-9]+\.(h|cc|proto)|CMakeLists\.txt|[A-Z_]+\.md))");
  // What the demos read, and what they are run with.
  static const std::regex demo_input(R"(apps/demos/[a-z_0-9/]+\.(png|pgm|topo|txt))");
  Violations violations;
  for (const std::string& path : paths) {
    const bool has_room = std::regex_match(path, top) || std::regex_match(path, code) ||
                          std::regex_match(path, demo_input);
    if (!has_room) violations.push_back({path, 0, "the layout has no room for this file"});
  }
  return violations;
}

std::string to_string(const Violations& violations) {
  std::ostringstream text;
  for (const Violation& v : violations) {
    text << "\n" << v.path << ":" << v.line << ": " << v.what;
  }
  return text.str();
}

}  // namespace phx::style
