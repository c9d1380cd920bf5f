#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/style/source_tree.h"

/// The rules of the house style that a program can check. Each takes the tree as a value and
/// returns what breaks it; an empty list means that the rule holds.
namespace phx::style {

struct Violation {
  std::string path;
  std::size_t line;  ///< counted from 1; 0 means the whole file
  std::string what;
};
using Violations = std::vector<Violation>;

/// What a folder may include, as layers.txt of the build folder says it.
struct Layer {
  std::string folder;
  std::vector<std::string> folders;  ///< whose headers it may include
  std::vector<std::string> parties;  ///< first path components of third-party headers
};
/// Reads lines of the form "folder|folder,folder|party,party".
std::vector<Layer> parse_layers(const std::string& text);

/// A file includes only what the targets of its folder use, by full path.
Violations include_rules(const SourceTree& tree, const std::vector<Layer>& layers);

/// Who starts a job needs no simulator: neither the tool nor the daemon uses it.
Violations simulator_rules(const std::vector<Layer>& layers);

/// A file includes, itself or through files of ours, the standard headers of what it names of std.
Violations standard_header_rules(const SourceTree& tree);

/// Lines, files, functions and parameter lists stay within their budgets.
Violations budget_rules(const SourceTree& tree);

/// No clocks, threads, chance of the system, mutable statics or unordered iteration in the core.
Violations purity_rules(const SourceTree& tree);
/// What an archive of the core imports, as `nm -uC` prints it, names nothing of the outside world.
Violations symbol_rules(const std::string& archive, const std::string& undefined_symbols);

/// Below the api nothing throws, and only the tops of coroutines catch.
Violations exception_rules(const SourceTree& tree);
/// No more than three `else if` in a row.
Violations chain_rules(const SourceTree& tree);

/// No type and no file is named by a word that the glossary replaces.
Violations word_rules(const SourceTree& tree);
/// No reminders, no traces of a merge, no tests that are commented out or skipped.
Violations leftover_rules(const SourceTree& tree);
/// Every document and every paper that a comment cites exists: *.md files in the tree, [Key21 s.N]
/// in the bibliography of the README nearest to the file.
Violations citation_rules(const SourceTree& tree);
/// Names of test cases have no semicolon, at which ctest would cut them in two.
Violations test_name_rules(const SourceTree& tree);
/// Headers open with #pragma once.
Violations header_rules(const SourceTree& tree);

/// Every C++ file belongs to exactly one target. `listed` has one entry per mention in a target.
Violations dead_file_rules(const SourceTree& tree, const std::vector<std::string>& listed);

/// The top level and the folders hold what the layout says. `paths` are all files.
Violations layout_rules(const std::vector<std::string>& paths);

/// One object file: the functions it defines for others, and the names it takes from others.
struct ObjectFile {
  std::string name;
  std::vector<std::string> defined;
  std::vector<std::string> undefined;
};
/// Splits the output of `nm -C` for archives and object files.
std::vector<ObjectFile> parse_nm(const std::string& output);
/// Every function of namespace phx that a library defines is used, by another object file or (if
/// its name stands more often in the code than its declaration and definition do) by its own; tests
/// do not count. `exempt` lists the object files whose functions are the product itself.
Violations unused_function_rules(const SourceTree& tree, const std::vector<ObjectFile>& objects,
                                 const std::vector<std::string>& exempt);

/// One per line, as a compiler would print it.
std::string to_string(const Violations& violations);

}  // namespace phx::style
