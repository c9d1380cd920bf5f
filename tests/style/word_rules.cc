#include <algorithm>
#include <array>
#include <regex>

#include "tests/style/rules.h"

namespace phx::style {
namespace {

struct Replacement {
  const char* word;     ///< as a part of a PascalCase name
  const char* instead;  ///< the word of the glossary
  const char* except;   ///< a folder where the word is right; empty if there is none
  bool only_alone;      ///< banned only as the whole name
};

constexpr std::array kReplacements = {
    Replacement{"Node", "processor or vnode", "", true},
    Replacement{"PeerNode", "processor", "", false},
    Replacement{"Host", "processor", "apps", false},
    Replacement{"Rank", "vnode, or processor", "runtime/mpi", false},
    Replacement{"Packet", "message, envelope or frame", "", false},
    Replacement{"Event", "effect, note or input", "", true},
    Replacement{"Manager", "what it does", "", false},
    Replacement{"Helper", "what it does", "", false},
    Replacement{"Util", "what it does", "", false},
    Replacement{"Utils", "what it does", "", false},
    Replacement{"Context", "what it holds", "", false},
    Replacement{"Data", "what it is: payload, state, sample", "", false},
    Replacement{"Info", "what it tells: view, status, record", "runtime/mpi", false}};

/// Whether `word` stands in a PascalCase `name` as a word of its own.
bool has_word(const std::string& name, const Replacement& r) {
  if (r.only_alone) return name == r.word;
  const std::string word = r.word;
  for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool ends =
        end == name.size() || (name[end] >= 'A' && name[end] <= 'Z') || name[end] == '_';
    if (ends) return true;
  }
  return false;
}

std::string pascal(const std::string& snake) {
  std::string name;
  bool upper = true;
  for (const char c : snake) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return name;
}

void check_name(const SourceFile& file, std::size_t line, const std::string& name,
                Violations& violations) {
  for (const Replacement& r : kReplacements) {
    const bool excepted = *r.except != '\0' && file.is_below(r.except);
    if (!excepted && has_word(name, r)) {
      violations.push_back({file.path, line, name + ": not " + r.word + ", but " + r.instead});
    }
  }
}

/// The type that this line declares; empty if it declares none.
std::string declared_type(const std::string& code) {
  static const std::regex type(
      R"(^\s*(?:template\s*<.*>\s*)?(?:class|struct|union|enum(?:\s+class)?)\s+)"
      R"((?:\[\[\w+\]\]\s+)?(\w+)\s*(?:final\s*)?(?:[:{;]|$))");
  static const std::regex alias(R"(^\s*using\s+(\w+)\s*=)");
  std::smatch match;
  if (std::regex_search(code, match, type) || std::regex_search(code, match, alias))
    return match[1];
  return "";
}

/// What the outbox calls its third parameter, and what a machine calls its choice for it.
bool names_outbox_parameter(const SourceFile& file, const std::string& code) {
  static const std::regex alias(R"(^\s+using Event = )");
  return file.path == "overlay/base/outbox.h" || std::regex_search(code, alias);
}

}  // namespace

Violations word_rules(const SourceTree& tree) {
  Violations violations;
  for (const auto& [path, file] : tree.files()) {
    if (!file.is_cpp()) continue;
    const std::string name = path.substr(path.rfind('/') + 1);
    check_name(file, 0, pascal(name.substr(0, name.find('.'))), violations);
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      const std::string type = declared_type(file.code[i]);
      if (names_outbox_parameter(file, file.code[i])) continue;
      if (!type.empty()) check_name(file, i + 1, type, violations);
    }
  }
  return violations;
}

Violations leftover_rules(const SourceTree& tree) {
  // Written in pieces, so that this file does not find itself.
  static const std::regex reminder(std::string(R"(\b(TO)") + "DO|FIX" + "ME|TB" + "D|HA" + "CK|X" +
                                   "XX)\\b");
  static const std::regex conflict(R"(^(<{7}|={7}|>{7}|\|{7})( |$))");
  static const std::regex disabled(R"(^\s*//+\s*(TEST_CASE|CHECK|REQUIRE)\b)");
  static const std::regex skipped(std::string(R"(doctest::)") + R"(skip\b)");
  // Where long tests are left out, under sanitizers only.
  static const std::string skips = "tests/support/seeds.h";
  Violations violations;
  for (const auto& [path, file] : tree.files()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      const std::string& line = file.lines[i];
      if (std::regex_search(line, match, reminder)) {
        violations.push_back({path, i + 1, "a reminder: " + match.str()});
      }
      if (std::regex_search(line, conflict))
        violations.push_back({path, i + 1, "a conflict marker"});
      const bool is_skipped = path != skips && std::regex_search(line, skipped);
      if (file.is_cpp() && (is_skipped || std::regex_search(line, disabled))) {
        violations.push_back({path, i + 1, "a test that does not run"});
      }
    }
  }
  return violations;
}

namespace {

/// The README of the file's folder, or else of the nearest folder above it.
const SourceFile* nearest_readme(const SourceTree& tree, const SourceFile& file) {
  std::string folder = file.folder();
  while (true) {
    const SourceFile* readme = tree.find(folder.empty() ? "README.md" : folder + "/README.md");
    if (readme != nullptr || folder.empty()) return readme;
    const std::size_t slash = folder.rfind('/');
    folder = slash == std::string::npos ? "" : folder.substr(0, slash);
  }
}

/// A bibliography has a line that begins with the key: "- [Saito08] Saito, Taura, ...".
bool in_bibliography(const SourceFile* readme, const std::string& key) {
  if (readme == nullptr) return false;
  const std::regex entry(R"(^[-*| ]*\**\[)" + key + R"(\])");
  return std::any_of(readme->lines.begin(), readme->lines.end(),
                     [&](const std::string& line) { return std::regex_search(line, entry); });
}

bool document_exists(const SourceTree& tree, const SourceFile& file, const std::string& document) {
  if (tree.find(document) != nullptr || tree.find(file.folder() + "/" + document) != nullptr)
    return true;
  const std::filesystem::path relative = std::filesystem::path(file.folder()) / document;
  return tree.find(relative.lexically_normal().generic_string()) != nullptr;
}

}  // namespace

Violations citation_rules(const SourceTree& tree) {
  static const std::regex citation(R"(\[([A-Z][a-z]+[0-9]{2})(?: [^\]]*)?\])");
  static const std::regex document(R"(([\w./-]+\.md)\b)");
  Violations violations;
  for (const auto& [path, file] : tree.files()) {
    if (file.is_below("tests/style")) continue;  // full of planted examples
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      for (std::sregex_iterator it(line.begin(), line.end(), citation), end; it != end; ++it) {
        if (!in_bibliography(nearest_readme(tree, file), (*it)[1])) {
          violations.push_back(
              {path, i + 1, it->str() + " is not in the bibliography of the README"});
        }
      }
      for (std::sregex_iterator it(line.begin(), line.end(), document), end; it != end; ++it) {
        if (!document_exists(tree, file, (*it)[1])) {
          violations.push_back({path, i + 1, it->str() + " does not exist"});
        }
      }
    }
  }
  return violations;
}

}  // namespace phx::style
