#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace phx::style {

/// One text file of the project.
struct SourceFile {
  std::string path;                ///< from the root of the project, with '/'
  std::vector<std::string> lines;  ///< as they stand, without the line ends
  /// The same lines with comments and the insides of literals replaced by blanks, so that a rule
  /// about code is not misled by prose. Empty for files that are not C++.
  std::vector<std::string> code;

  [[nodiscard]] bool is_header() const { return path.ends_with(".h"); }
  [[nodiscard]] bool is_source() const { return path.ends_with(".cc"); }
  [[nodiscard]] bool is_cpp() const { return is_header() || is_source(); }
  /// "overlay/base" of "overlay/base/ids.h"; empty for files at the root.
  [[nodiscard]] std::string folder() const;
  /// Whether the file lies in `folder` or anywhere below it.
  [[nodiscard]] bool is_below(std::string_view folder) const;
};

/// The project's text files by path: the value that all rules read. Tests plant violations in trees
/// of a file or two.
class SourceTree {
 public:
  /// Every text file of the project under `root`; build folders and dot folders are left out.
  static SourceTree load(const std::filesystem::path& root);

  /// Adds a file with this text; one of the same path is replaced.
  SourceTree& add(std::string path, std::string_view text);

  [[nodiscard]] const std::map<std::string, SourceFile>& files() const { return files_; }
  /// Null if there is none.
  [[nodiscard]] const SourceFile* find(const std::string& path) const;

 private:
  std::map<std::string, SourceFile> files_;
};

/// `text` with comments and the insides of string and character literals blanked, line by line.
std::vector<std::string> code_only(const std::vector<std::string>& lines);

}  // namespace phx::style
