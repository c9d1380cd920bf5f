#pragma once

#include <map>
#include <string>
#include <vector>

#include "overlay/base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace phx::app {

/// What the user wants for options that a command line does not give: a file of lines "option =
/// value" below "[verb]" [README.md, "Defaults of options"].
class Defaults {
 public:
  /// Reads $PHOENIX_CONFIG, or else the usual file, if there is one. The error names the line.
  [[nodiscard]] static Result<Defaults> read(const CLI::App& tool);

  /// The words of a command line with those of the file in front of the verb's own, or of those of
  /// what the verb is to do (`demo heat`). Options that
  /// the line gives are left alone, but for those that may be given several times.
  [[nodiscard]] std::vector<std::string> apply(const CLI::App& tool,
                                               std::vector<std::string> words);
  /// " (FILE:LINE)" of an applied line whose option is named in `what`; empty: of none of them.
  [[nodiscard]] std::string place_of(const std::string& what) const;

 private:
  struct Line {
    std::string option;  ///< "--timeout"
    std::string value;
    bool is_flag = false;
    std::size_t number = 0;
  };

  [[nodiscard]] Status take(const CLI::App& tool, const std::string& line, std::size_t number);
  /// Whether it is to be applied. Then it takes the place of what was said of all verbs.
  [[nodiscard]] bool prevails(const Line& line, const CLI::Option& option,
                              const std::vector<std::string*>& own);
  [[nodiscard]] Error wrong(std::size_t number, const std::string& what) const;

  std::string file_;
  std::string section_;                             ///< While it is read; empty: for all verbs.
  std::map<std::string, std::vector<Line>> lines_;  ///< By section.
  std::vector<Line> applied_;
};

}  // namespace phx::app
