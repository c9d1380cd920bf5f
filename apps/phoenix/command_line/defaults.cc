#include "apps/phoenix/command_line/defaults.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apps/phoenix/command_line/mistakes.h"
#include "apps/phoenix/command_line/own_options.h"
#include "apps/phoenix/command_line/verb.h"

namespace phx::app {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::string name_of(const CLI::App* verb) {
  return verb->get_name();
}

/// Whether one of these words gives this option, by any of its names.
bool is_given(const CLI::Option& option, const std::vector<std::string*>& words) {
  const auto names = [&](const std::string* given) {
    const std::string& word = *given;
    const bool is_long = std::ranges::any_of(option.get_lnames(), [&](const std::string& name) {
      return word == "--" + name || word.starts_with("--" + name + "=");
    });
    return is_long || std::ranges::any_of(option.get_snames(), [&](const std::string& name) {
             return !word.starts_with("--") && word.starts_with("-" + name);
           });
  };
  return std::ranges::any_of(words, names);
}

/// The verb that these words begin with, and what of it: `demo`, `heat`.
std::vector<const CLI::App*> chosen_in(const CLI::App& tool,
                                       const std::vector<std::string>& words) {
  std::vector<const CLI::App*> chosen;
  const CLI::App* last = &tool;
  for (const std::string& word : words) {
    const auto verbs = last->get_subcommands(nullptr);
    const auto found = std::ranges::find(verbs, word, &name_of);
    if (found == verbs.end()) break;
    chosen.push_back(last = *found);
  }
  return chosen;
}

/// A verb and what there is of it.
std::vector<const CLI::App*> family_of(const CLI::App& verb) {
  std::vector<const CLI::App*> family = {&verb};
  for (const CLI::App* one : verb.get_subcommands(nullptr)) family.push_back(one);
  return family;
}

}  // namespace

Error Defaults::wrong(std::size_t number, const std::string& what) const {
  return {ErrorCode::kBadInput, file_ + ":" + std::to_string(number) + ": " + what};
}

Result<Defaults> Defaults::read(const CLI::App& tool) {
  Defaults defaults;
  const bool is_named = std::getenv("PHOENIX_CONFIG") != nullptr;
  defaults.file_ = environment("PHOENIX_CONFIG");
  if (!is_named) {
    std::string folder = environment("XDG_CONFIG_HOME");
    const std::string home = environment("HOME");
    if (folder.empty() && !home.empty()) folder = home + "/.config";
    if (!folder.empty()) defaults.file_ = folder + "/phoenix/config";
  }
  std::error_code failure;
  const bool is_there = std::filesystem::exists(defaults.file_, failure);
  if (defaults.file_.empty() || (!is_named && !is_there)) return defaults;
  std::ifstream stream(defaults.file_);
  if (!stream || std::filesystem::is_directory(defaults.file_, failure)) {
    return Error{ErrorCode::kBadInput, "cannot read the configuration " + defaults.file_};
  }
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    const Status taken = defaults.take(tool, trimmed(line), ++number);
    if (!taken.ok()) return taken.error();
  }
  return defaults;
}

Status Defaults::take(const CLI::App& tool, const std::string& line, std::size_t number) {
  if (line.empty() || line.front() == '#') return success();
  const std::vector<std::string> verbs = verbs_of(tool);
  if (line.front() == '[') {
    section_ = trimmed(line.substr(1, line.size() - (line.back() == ']' ? 2 : 1)));
    const bool is_known = line.back() == ']' && std::ranges::find(verbs, section_) != verbs.end();
    return is_known ? success()
                    : wrong(number, "there is no command '" + section_ + "'" +
                                        nearest(section_, verbs) + ", or no ']'");
  }
  const std::size_t equals = line.find('=');
  const std::string name = trimmed(line.substr(0, equals));
  Line one{"--" + name, "", equals == std::string::npos, number};
  if (!one.is_flag) one.value = trimmed(line.substr(equals + 1));
  const CLI::Option* option = nullptr;
  std::vector<std::string> known;
  for (const CLI::App* verb : tool.get_subcommands(nullptr)) {
    if (!section_.empty() && verb->get_name() != section_) continue;
    for (const CLI::App* part : family_of(*verb)) {
      const CLI::Option* found = part->get_option_no_throw(one.option);
      if (found != nullptr) option = found;
      for (const std::string& other : options_of(*part)) known.push_back(other.substr(2));
    }
  }
  if (option == nullptr || name == "help") {
    const std::string of = section_.empty() ? "" : " of phoenix " + section_;
    return wrong(number, "'" + name + "' is no option" + of + nearest(name, known));
  }
  const bool takes_value = option->get_items_expected_max() > 0;
  if (takes_value && one.value.empty()) return wrong(number, "'" + name + "' needs a value");
  if (!takes_value) {
    const bool is_off = one.value == "false" || one.value == "no";
    if (!one.is_flag && !is_off && one.value != "true" && one.value != "yes") {
      return wrong(number, "'" + name + "' is yes or no, not '" + one.value + "'");
    }
    one.is_flag = true;
    if (is_off) return success();
  }
  lines_[section_].push_back(one);
  return success();
}

bool Defaults::prevails(const Line& line, const CLI::Option& option,
                        const std::vector<std::string*>& own) {
  const std::string& variable = option.get_envname();
  if (!variable.empty() && !environment(variable.c_str()).empty()) return false;
  if (option.get_items_expected_max() > 1) return true;  // A list.
  if (is_given(option, own)) return false;
  std::erase_if(applied_, [&](const Line& one) { return one.option == line.option; });
  return true;
}

std::vector<std::string> Defaults::apply(const CLI::App& tool, std::vector<std::string> words) {
  const auto chosen = chosen_in(tool, words);
  if (chosen.empty()) return words;
  const auto own =
      own_options(*chosen.back(), words.data() + chosen.size(), words.data() + words.size());
  // What is said of this verb comes after what is said of all, and so prevails.
  for (const std::string& section : {std::string(), chosen.front()->get_name()}) {
    for (const Line& line : lines_[section]) {
      const CLI::Option* option = chosen.back()->get_option_no_throw(line.option);
      if (option != nullptr && prevails(line, *option, own)) applied_.push_back(line);
    }
  }
  std::vector<std::string> added;
  for (const Line& line : applied_) {
    added.push_back(line.is_flag ? line.option : line.option + "=" + line.value);
  }
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(chosen.size()), added.begin(),
               added.end());
  return words;
}

std::string Defaults::place_of(const std::string& what) const {
  const auto found = std::ranges::find_if(
      applied_, [&](const Line& line) { return what.find(line.option) != std::string::npos; });
  return found == applied_.end() ? "" : " (" + file_ + ":" + std::to_string(found->number) + ")";
}

}  // namespace phx::app
