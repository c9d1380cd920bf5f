#include "apps/phoenix/command_line/own_options.h"

#include <CLI/CLI.hpp>
namespace phx::app {
namespace {

/// The option by which a word takes the next one as its value; none: it does not.
const CLI::Option* taker(const CLI::App& verb, const std::string& word) {
  const bool is_long = word.starts_with("--");
  if (is_long && word.find('=') != std::string::npos) return nullptr;
  const CLI::Option* option = nullptr;
  if (word == "-np") return verb.get_option_no_throw("-n");
  if (is_long) option = verb.get_option_no_throw(word);
  // Flags of one letter may stand in front of it: "-dn 4".
  for (std::size_t i = 1; !is_long && i < word.size(); ++i) {
    option = verb.get_option_no_throw(std::string("-") + word[i]);
    const bool takes = option != nullptr && option->get_items_expected_max() > 0;
    if (takes && i + 1 < word.size()) return nullptr;  // The rest is the value: "-n4".
    if (takes) break;
  }
  return option != nullptr && option->get_items_expected_max() > 0 ? option : nullptr;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word.front() == '-';
}

}  // namespace

std::vector<std::string*> own_options(const CLI::App& verb, std::string* first, std::string* last) {
  std::vector<std::string*> own;
  const bool starts_program = verb.get_positionals_at_end() || verb.get_prefix_command();
  for (std::string* word = first; word != last && *word != "--"; ++word) {
    if (!is_option(*word) && starts_program) break;
    if (!is_option(*word)) continue;
    own.push_back(word);
    const CLI::Option* option = taker(verb, *word);
    if (option == nullptr || word + 1 == last) continue;
    ++word;
    // A list takes all up to the next option.
    const bool is_list = option->get_items_expected_max() > 1;
    while (is_list && word + 1 != last && !is_option(word[1])) ++word;
  }
  return own;
}

}  // namespace phx::app
