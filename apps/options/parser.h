#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

/// Command lines of programs. It is CLI11, which is all in headers, compiled once for all of them:
/// each file that includes it takes ten seconds. Names and meaning are those of CLI11; a file that
/// needs more of it may include it and take app(). Thread rule: one owner.
namespace phx::options {

/// What a value has to be.
class Check {
 public:
  /// `test` says what is wrong, or nothing. `kind`: of value, for --help; empty: as its type is.
  explicit Check(std::function<std::string(const std::string&)> test, const std::string& kind = "");
  /// It may also turn the word into what is meant.
  [[nodiscard]] static Check transform(std::function<std::string(std::string&)> test,
                                       const std::string& kind = "");
  explicit Check(std::shared_ptr<const CLI::Validator> validator, bool transforms = false);

  [[nodiscard]] const CLI::Validator& validator() const { return *validator_; }
  [[nodiscard]] bool transforms() const { return transforms_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
  bool transforms_;
};

/// For int, unsigned int, unsigned long and double.
template <class T>
[[nodiscard]] Check range(T least, T most);
[[nodiscard]] Check non_negative_number();
[[nodiscard]] Check existing_file();
[[nodiscard]] Check one_of(const std::vector<std::string>& words);

/// An option or a flag of a parser, as long as that lives.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  // NOLINTBEGIN(modernize-use-nodiscard)
  Option required() const;
  Option capture_default_str() const;
  Option check(const Check& check) const;
  Option check(const std::function<std::string(const std::string&)>& test) const;
  Option delimiter(char between) const;
  Option type_name(const std::string& name) const;
  Option excludes(const Option& other) const;
  Option needs(const Option& other) const;
  Option envname(const std::string& name) const;
  Option group(const std::string& name) const;
  // NOLINTEND(modernize-use-nodiscard)

  [[nodiscard]] std::size_t count() const;

 private:
  CLI::Option* option_;
};

/// What reads a command line, or the part of a verb in it, as long as the Program lives.
class Parser {
 public:
  explicit Parser(CLI::App& app) : app_(&app) {}

  /// For texts, numbers and lists of them, as instantiated in the source.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help = "") const;
  Option add_flag(const std::string& names, bool& value, const std::string& help = "") const;
  [[nodiscard]] Parser add_subcommand(const std::string& name, const std::string& help) const;
  void callback(std::function<void()> act) const;
  void footer(const std::string& text) const;
  void require_subcommand(std::size_t least, std::size_t most) const;
  void allow_extras() const;
  void prefix_command() const;
  void positionals_at_end() const;
  /// --help is not its own.
  void no_help() const;
  /// Of an option that is given several times the last value counts. For those added from now on.
  void take_last() const;

  [[nodiscard]] Option get_option(const std::string& name) const;
  [[nodiscard]] std::size_t count(const std::string& option) const;
  [[nodiscard]] std::string get_name() const;
  /// The names of those that were on the command line.
  [[nodiscard]] std::vector<std::string> chosen_subcommands() const;
  [[nodiscard]] std::vector<std::string> remaining() const;
  /// The first option that was given more than once and takes a value; empty: none.
  [[nodiscard]] std::string given_twice() const;
  [[nodiscard]] CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

/// The command line is not understood, or makes no sense: throws, from within a callback.
[[noreturn]] void refuse(const std::string& what);
[[noreturn]] void refuse(const std::string& option, const std::string& what);

/// The whole command line of a program.
class Program : public Parser {
 public:
  /// `description` stands at the top of --help.
  explicit Program(const std::string& description);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  void version(const std::string& text) const;
  /// Something is wrong; returns the words for it, a line with its end.
  using Complain = std::function<std::string(const std::string& what)>;
  /// What `complain` gets is "not expected: WORD ..." for words too many. True: go on; false: the
  /// program ends, having answered (--help) or, with `has_failed`, complained.
  struct Outcome {
    bool goes_on = true;
    bool has_failed = false;
  };
  [[nodiscard]] Outcome parse(int argc, char** argv, const Complain& complain) const;

 private:
  explicit Program(std::unique_ptr<CLI::App> owned);
  std::unique_ptr<CLI::App> owned_;
};

}  // namespace phx::options
