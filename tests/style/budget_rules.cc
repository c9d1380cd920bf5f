#include <cctype>
#include <regex>

#include "tests/style/rules.h"

namespace phx::style {
namespace {

constexpr std::size_t kHeaderLines = 150;
constexpr std::size_t kSourceLines = 600;
constexpr std::size_t kFunctionLines = 60;
constexpr std::size_t kParameters = 6;
constexpr std::size_t kLineLength = 100;

/// Headers that may be longer, but may not grow: templates and harnesses whose code has no other
/// place.
const std::map<std::string, std::size_t> kLongHeaders = {{"tests/support/link_net.h", 229},
                                                         {"tests/support/member_net.h", 312}};

std::size_t line_limit(const SourceFile& file) {
  const auto longer = kLongHeaders.find(file.path);
  if (longer != kLongHeaders.end()) return longer->second;
  return file.is_header() ? kHeaderLines : kSourceLines;
}

/// What a pair of braces encloses.
enum class Brace { kNamespace, kType, kFunction, kInitializer, kBlock };

/// A reader of C++ by braces alone: enough to find where functions begin and end, and what stands
/// between their parentheses. It reads code without comments and literals.
class FunctionScanner {
 public:
  explicit FunctionScanner(const SourceFile& file) : file_(file) {}

  Violations run() {
    for (line_ = 0; line_ < file_.code.size(); ++line_) {
      const std::string& text = file_.code[line_];
      if (text.find_first_not_of(' ') != std::string::npos &&
          text[text.find_first_not_of(' ')] == '#')
        continue;
      for (const char c : text) on(c);
      on('\n');
    }
    return violations_;
  }

 private:
  struct Open {
    Brace kind;
    std::size_t first_line;
    std::string head;  ///< what stood before the brace, since the last statement
  };

  void on(char c) {
    if (c == '{') {
      open();
    } else if (c == '}') {
      close();
    } else if (c == ';' && parentheses_ == 0) {
      head_.clear();
    } else {
      if (c == '(') ++parentheses_;
      if (c == ')') --parentheses_;
      if (head_.empty() && std::isspace(static_cast<unsigned char>(c)) == 0) head_line_ = line_;
      if (!head_.empty() || std::isspace(static_cast<unsigned char>(c)) == 0) head_ += c;
    }
  }

  void open() {
    stack_.push_back({classify(), head_line_, head_});
    saved_parentheses_.push_back(parentheses_);
    parentheses_ = 0;
    if (stack_.back().kind != Brace::kInitializer) head_.clear();
  }

  void close() {
    if (stack_.empty()) return;
    const Open opened = stack_.back();
    stack_.pop_back();
    parentheses_ = saved_parentheses_.back();
    saved_parentheses_.pop_back();
    if (opened.kind == Brace::kInitializer) {
      head_ = opened.head + "{}";
      head_line_ = opened.first_line;
      return;
    }
    if (opened.kind == Brace::kFunction) check(opened);
    head_.clear();
  }

  [[nodiscard]] bool at_declarations() const {
    return stack_.empty() || stack_.back().kind == Brace::kNamespace ||
           stack_.back().kind == Brace::kType;
  }

  [[nodiscard]] Brace classify() const {
    static const std::regex name_space(R"(^\s*(inline\s+)?(namespace|extern)\b)");
    static const std::regex type(R"(^\s*(template\s*<.*>\s*)?(class|struct|union|enum)\b[^()]*$)");
    if (parentheses_ > 0) return Brace::kInitializer;
    if (!at_declarations()) return Brace::kBlock;
    if (std::regex_search(head_, name_space)) return Brace::kNamespace;
    const std::string flat = std::regex_replace(head_, std::regex(R"(\n)"), " ");
    if (std::regex_search(flat, type)) return Brace::kType;
    return is_body(flat) ? Brace::kFunction : Brace::kInitializer;
  }

  /// A brace opens a body if parameters stand before it, and it does not follow the name of a
  /// member in a constructor's list or an equals sign.
  static bool is_body(const std::string& head) {
    static const std::regex in_list(R"(\)\s*(noexcept\s*)?:[^:].*[\w>]\s*$)");
    static const std::regex ends_as_function(
        R"((\)|\bconst|\bnoexcept|\boverride|\bfinal|\}|->[^)]*)\s*$)");
    static const std::regex assigned(R"(=\s*$)");
    if (head.find('(') == std::string::npos || std::regex_search(head, assigned)) return false;
    if (std::regex_search(head, in_list)) return false;
    return std::regex_search(head, ends_as_function);
  }

  void check(const Open& function) {
    const std::size_t length = line_ - function.first_line + 1;
    const std::string name = name_of(function.head);
    if (length > kFunctionLines) {
      report(function.first_line, name + " has " + std::to_string(length) + " lines; at most " +
                                      std::to_string(kFunctionLines));
    }
    const std::size_t parameters = parameters_of(function.head);
    if (parameters > kParameters) {
      report(function.first_line, name + " has " + std::to_string(parameters) +
                                      " parameters; at most " + std::to_string(kParameters));
    }
  }

  void report(std::size_t line, std::string what) {
    violations_.push_back({file_.path, line + 1, std::move(what)});
  }

  static std::string name_of(const std::string& head) {
    static const std::regex name(R"(([\w:~]+)\s*\()");
    std::smatch match;
    return std::regex_search(head, match, name) ? match[1].str() : "a function";
  }

  /// Counts the commas between the first parentheses, outside of all brackets inside.
  static std::size_t parameters_of(const std::string& head) {
    std::size_t commas = 0;
    int depth = 0;
    bool any = false;
    for (std::size_t i = head.find('('); i < head.size(); ++i) {
      const char c = head[i];
      if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
      if (depth == 0) break;
      if (c == ',' && depth == 1) ++commas;
      if (depth == 1 && c != '(' && std::isspace(static_cast<unsigned char>(c)) == 0) any = true;
    }
    return any ? commas + 1 : 0;
  }

  const SourceFile& file_;
  Violations violations_;
  std::vector<Open> stack_;
  std::vector<int> saved_parentheses_;
  std::string head_;
  std::size_t head_line_ = 0;
  std::size_t line_ = 0;
  int parentheses_ = 0;
};

/// Characters, not bytes: names of people have accents.
std::size_t columns(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

}  // namespace

Violations budget_rules(const SourceTree& tree) {
  Violations violations;
  for (const auto& [path, file] : tree.files()) {
    if (!file.is_cpp()) continue;
    const std::size_t limit = line_limit(file);
    if (file.lines.size() > limit) {
      violations.push_back(
          {path, file.lines.size(), "more than " + std::to_string(limit) + " lines"});
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (columns(file.lines[i]) > kLineLength) {
        violations.push_back(
            {path, i + 1, "more than " + std::to_string(kLineLength) + " columns"});
      }
    }
    const Violations functions = FunctionScanner(file).run();
    violations.insert(violations.end(), functions.begin(), functions.end());
  }
  return violations;
}

}  // namespace phx::style
