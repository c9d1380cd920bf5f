#include "apps/options/parser.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "apps/options/option_values.h"

namespace phx::options {

Check::Check(std::function<std::string(const std::string&)> test, const std::string& kind)
    : Check(std::make_shared<CLI::Validator>(
          [test = std::move(test)](std::string& word) { return test(word); }, kind)) {}

Check Check::transform(std::function<std::string(std::string&)> test, const std::string& kind) {
  return Check(std::make_shared<CLI::Validator>(std::move(test), kind), true);
}

Check::Check(std::shared_ptr<const CLI::Validator> validator, bool transforms)
    : validator_(std::move(validator)), transforms_(transforms) {}

namespace {

std::string in_digits(double number) {
  constexpr int kDigits = 15;  // Up to there 1,000,000,000 is no 1e+09.
  std::ostringstream text;
  text.precision(kDigits);
  text << number;
  return text.str();
}
template <class T>
std::string in_digits(T number) {
  return std::to_string(number);
}

/// Words of our own, as those of CLI11 are others in each release.
template <class T>
Check in_range(T least, T most, const std::string& wanted, const std::string& kind) {
  const auto test = [=](const std::string& word) -> std::string {
    T value{};
    const bool is_good = CLI::detail::lexical_cast(word, value) && value >= least && value <= most;
    return is_good ? "" : "'" + word + "' is no number " + wanted;
  };
  return Check(test, kind);
}

}  // namespace

template <class T>
Check range(T least, T most) {
  const std::string from = in_digits(least);
  const std::string to = in_digits(most);
  return in_range(least, most, "from " + from + " to " + to,
                  CLI::detail::type_name<T>() + (" in [" + from + " - " + to + "]"));
}
template Check range(int least, int most);
template Check range(unsigned int least, unsigned int most);
template Check range(unsigned long least, unsigned long most);
template Check range(double least, double most);

Check non_negative_number() {
  return in_range(0.0, std::numeric_limits<double>::max(), "above 0", "NONNEGATIVE");
}
Check existing_file() {
  return Check(std::make_shared<CLI::Validator>(CLI::ExistingFile));
}
Check one_of(const std::vector<std::string>& words) {
  return Check(std::make_shared<CLI::IsMember>(words));
}

// --- Options ---------------------------------------------------------------------------------

Option Option::required() const {
  option_->required();
  return *this;
}
Option Option::capture_default_str() const {
  option_->capture_default_str();
  return *this;
}
Option Option::check(const Check& check) const {
  if (check.transforms()) {
    option_->transform(check.validator());
  } else {
    option_->check(check.validator());
  }
  return *this;
}
Option Option::check(const std::function<std::string(const std::string&)>& test) const {
  return check(Check(test));
}
Option Option::delimiter(char between) const {
  option_->delimiter(between);
  return *this;
}
Option Option::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}
Option Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}
Option Option::needs(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}
Option Option::envname(const std::string& name) const {
  option_->envname(name);
  return *this;
}
Option Option::group(const std::string& name) const {
  option_->group(name);
  return *this;
}
std::size_t Option::count() const {
  return option_->count();
}

// --- Parsers ---------------------------------------------------------------------------------

template <class T>
Option Parser::add_option(const std::string& names, T& value, const std::string& help) const {
  return Option(*app_->add_option(names, value, help));
}
template Option Parser::add_option(const std::string&, std::string&, const std::string&) const;
template Option Parser::add_option(const std::string&, int&, const std::string&) const;
template Option Parser::add_option(const std::string&, unsigned int&, const std::string&) const;
template Option Parser::add_option(const std::string&, unsigned long&, const std::string&) const;
template Option Parser::add_option(const std::string&, double&, const std::string&) const;
template Option Parser::add_option(const std::string&, std::optional<unsigned long>&,
                                   const std::string&) const;
template Option Parser::add_option(const std::string&, std::vector<std::string>&,
                                   const std::string&) const;
template Option Parser::add_option(const std::string&, std::vector<unsigned int>&,
                                   const std::string&) const;
template Option Parser::add_option(const std::string&, std::vector<unsigned long>&,
                                   const std::string&) const;

Option Parser::add_flag(const std::string& names, bool& value, const std::string& help) const {
  return Option(*app_->add_flag(names, value, help));
}
Parser Parser::add_subcommand(const std::string& name, const std::string& help) const {
  return Parser(*app_->add_subcommand(name, help));
}
void Parser::callback(std::function<void()> act) const {
  app_->callback(std::move(act));
}
void Parser::footer(const std::string& text) const {
  app_->footer(text);
}
void Parser::require_subcommand(std::size_t least, std::size_t most) const {
  app_->require_subcommand(least, most);
}
void Parser::allow_extras() const {
  app_->allow_extras();
}
void Parser::prefix_command() const {
  app_->prefix_command();
}
void Parser::positionals_at_end() const {
  app_->positionals_at_end();
}
void Parser::no_help() const {
  app_->set_help_flag();
}
void Parser::take_last() const {
  app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

Option Parser::get_option(const std::string& name) const {
  return Option(*app_->get_option(name));
}
std::size_t Parser::count(const std::string& option) const {
  return app_->count(option);
}
std::string Parser::get_name() const {
  return app_->get_name();
}
std::vector<std::string> Parser::chosen_subcommands() const {
  std::vector<std::string> names;
  for (const CLI::App* chosen : app_->get_subcommands()) names.push_back(chosen->get_name());
  return names;
}
std::vector<std::string> Parser::remaining() const {
  return app_->remaining();
}
std::string Parser::given_twice() const {
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    const bool is_flag = option->get_items_expected_max() == 0;
    if (!is_flag && option->count() > 1) return option->get_name();
  }
  return {};
}

void refuse(const std::string& what) {
  throw CLI::ValidationError(what);
}
void refuse(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}

// --- Programs --------------------------------------------------------------------------------

Program::Program(const std::string& description)
    : Program(std::make_unique<CLI::App>(description)) {}
Program::Program(std::unique_ptr<CLI::App> owned) : Parser(*owned), owned_(std::move(owned)) {}
Program::~Program() = default;

void Program::version(const std::string& text) const {
  owned_->set_version_flag("--version", text);
}

Program::Outcome Program::parse(int argc, char** argv, const Complain& complain) const {
  owned_->failure_message([&](const CLI::App* parsed, const CLI::Error& error) {
    std::string what = error.what();
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
      what = "not expected:";
      for (const std::string& word : parsed->remaining(/*recurse=*/true)) what += " " + word;
    }
    return complain(what);
  });
  try {
    owned_->parse(argc, argv);
    check_values(*owned_);
  } catch (const CLI::ParseError& error) {
    return {false, owned_->exit(error) != 0};
  }
  return {};
}

}  // namespace phx::options
