#include "tests/style/source_tree.h"

#include <array>
#include <cctype>
#include <fstream>
#include <sstream>

namespace phx::style {
namespace {

constexpr std::array kTextEndings = {".h",    ".cc",      ".txt",   ".cmake", ".in",
                                     ".md",   ".sh",      ".proto", ".json",  ".yml",
                                     ".yaml", ".service", ".trace", ".topo"};
constexpr std::array kFolders = {"overlay", "collectives", "runtime", "apps", "tests", "deploy"};

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_text(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  for (const char* known : kTextEndings) {
    if (ending == known) return true;
  }
  return false;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Blanks one character after the other; knows what it is inside of.
class Blanker {
 public:
  std::string line(const std::string& text) {
    std::string code(text.size(), ' ');
    for (std::size_t i = 0; i < text.size();) i = step(text, i, code);
    if (state_ == State::kLineComment || state_ == State::kString) state_ = State::kCode;
    return code;
  }

 private:
  enum class State { kCode, kLineComment, kBlockComment, kString, kCharacter, kRaw };

  /// Looks at text[i]; returns the position of the next character to look at.
  std::size_t step(const std::string& text, std::size_t i, std::string& code) {
    switch (state_) {
      case State::kCode:
        return step_code(text, i, code);
      case State::kLineComment:
        return text.size();
      case State::kBlockComment:
        if (text.compare(i, 2, "*/") != 0) return i + 1;
        state_ = State::kCode;
        return i + 2;
      case State::kRaw:
        if (text.compare(i, raw_end_.size(), raw_end_) != 0) return i + 1;
        state_ = State::kCode;
        code[i + raw_end_.size() - 1] = '"';
        return i + raw_end_.size();
      case State::kString:
      case State::kCharacter:
        return step_literal(text, i, code);
    }
    return i + 1;
  }

  std::size_t step_code(const std::string& text, std::size_t i, std::string& code) {
    if (text.compare(i, 2, "//") == 0) {
      state_ = State::kLineComment;
      return i;
    }
    if (text.compare(i, 2, "/*") == 0) {
      state_ = State::kBlockComment;
      return i + 2;
    }
    code[i] = text[i];
    if (text.compare(i, 2, "R\"") == 0) return begin_raw(text, i, code);
    if (text[i] == '"') state_ = State::kString;
    const bool digit_before = i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0;
    if (text[i] == '\'' && !digit_before) state_ = State::kCharacter;  // else: 1'000
    return i + 1;
  }

  std::size_t begin_raw(const std::string& text, std::size_t i, std::string& code) {
    const std::size_t open = text.find('(', i);
    if (open == std::string::npos) return i + 1;
    raw_end_ = ")" + text.substr(i + 2, open - i - 2) + "\"";
    state_ = State::kRaw;
    code[i + 1] = '"';
    return open + 1;
  }

  std::size_t step_literal(const std::string& text, std::size_t i, std::string& code) {
    if (text[i] == '\\') return i + 2;
    const char end = state_ == State::kString ? '"' : '\'';
    if (text[i] == end) {
      code[i] = end;
      state_ = State::kCode;
    }
    return i + 1;
  }

  State state_ = State::kCode;
  std::string raw_end_;  ///< what closes the raw string we are in
};

}  // namespace

std::string SourceFile::folder() const {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool SourceFile::is_below(std::string_view folder) const {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

SourceTree SourceTree::load(const std::filesystem::path& root) {
  SourceTree tree;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.is_regular_file() && is_text(entry.path())) {
      tree.add(entry.path().filename().string(), read(entry.path()));
    }
  }
  for (const char* folder : kFolders) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !is_text(entry.path())) continue;
      tree.add(entry.path().lexically_relative(root).generic_string(), read(entry.path()));
    }
  }
  return tree;
}

SourceTree& SourceTree::add(std::string path, std::string_view text) {
  SourceFile file{path, split_lines(text), {}};
  if (file.is_cpp()) file.code = code_only(file.lines);
  files_.insert_or_assign(std::move(path), std::move(file));
  return *this;
}

const SourceFile* SourceTree::find(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

std::vector<std::string> code_only(const std::vector<std::string>& lines) {
  std::vector<std::string> code;
  Blanker blanker;
  for (const std::string& line : lines) code.push_back(blanker.line(line));
  return code;
}

}  // namespace phx::style
