#include "apps/phoenix/command_line/manual_page.h"

#include <CLI/CLI.hpp>
namespace phx::app {
namespace {

/// As roff takes it literally.
std::string literal(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool begins = result.empty() || result.back() == '\n';
    if (begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

/// What kind of value an option takes: beside its name, or below its description if that is a long
/// list, whose lines end behind commas.
struct Type {
  explicit Type(const std::string& type) {
    constexpr std::size_t kLong = 40;
    std::string text;
    for (const char c : literal(type)) text += c == ',' ? ", " : std::string(1, c);
    if (type.empty()) return;
    (type.size() > kLong ? below : beside) = text;
  }
  std::string beside;
  std::string below;
};

std::string as_it_stands(const std::string& text) {
  return ".nf\n" + literal(text) + "\n.fi\n";
}

std::string options(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // not shown by --help either
    const Type type(option->get_type_name());
    text += ".TP\n\\fB" + literal(option->get_name(false, true)) + "\\fR";
    text += type.beside.empty() ? "\n" : " \\fI" + type.beside + "\\fR\n";
    text += literal(option->get_description()) + "\n";
    const std::string usual = option->get_default_str();
    if (!type.below.empty()) text += "\\fI" + type.below + "\\fR\n";
    if (!usual.empty()) text += "[" + literal(usual) + "]\n";
  }
  return text;
}

std::string command(const CLI::App& verb, const std::string& name) {
  std::string text = ".SS " + literal(name) + "\n" + literal(verb.get_description()) + ".\n";
  text += options(verb);
  if (!verb.get_footer().empty()) text += ".PP\n" + as_it_stands(verb.get_footer());
  for (const CLI::App* inner : verb.get_subcommands(nullptr)) {
    text += command(*inner, name + " " + inner->get_name());
  }
  return text;
}

std::string commands(const CLI::App& program, const std::string& name) {
  std::string text;
  for (const CLI::App* verb : program.get_subcommands(nullptr)) {
    text += command(*verb, name + " " + verb->get_name());
  }
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& program, const ManualPage& page) {
  std::string text = ".TH " + upper(page.name) + " " + std::to_string(page.section) +
                     " \"\" \"phoenix " PHX_VERSION "\"\n";
  text += ".SH NAME\n" + page.name + " \\- " + literal(program.get_description()) + "\n";
  text += ".SH SYNOPSIS\n\\fB" + page.name + "\\fR " + literal(page.synopsis) + "\n";
  const std::string all = commands(program, page.name);
  text += all.empty() ? ".SH OPTIONS\n" + options(program) : ".SH COMMANDS\n" + all;
  return text + ".SH " + page.closing + "\n" + as_it_stands(program.get_footer());
}

}  // namespace phx::app
