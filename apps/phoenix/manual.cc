#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/phoenix/verb.h"

// What other programs read about this one, made of the descriptions that --help shows.
namespace phx::app {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands(nullptr);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

void print_completion(const CLI::App& tool) {
  std::printf(
      "# bash completion of phoenix; made by `phoenix manual --completion`\n"
      "_phoenix() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
      "  local verb=${COMP_WORDS[1]} second=${COMP_WORDS[2]}\n"
      "  if [ \"$before\" = --mesh ]; then\n"
      "    words=$(phoenix list 2>/dev/null | sed 1d | cut -d' ' -f1)\n"
      "  elif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    words=\"%s%s\"\n"
      "  else\n"
      "    case $verb in\n",
      joined(verbs_of(tool)).c_str(), joined(options_of(tool)).c_str());
  for (const CLI::App* verb : subcommands(tool)) {
    std::printf("      %s) words=\"%s%s\" ;;\n", verb->get_name().c_str(),
                joined(verbs_of(*verb)).c_str(), joined(options_of(*verb)).c_str());
  }
  std::printf("    esac\n    case $verb/$second in\n");
  for (const CLI::App* verb : subcommands(tool)) {
    for (const CLI::App* inner : subcommands(*verb)) {
      std::printf("      %s/%s) words=\"%s\" ;;\n", verb->get_name().c_str(),
                  inner->get_name().c_str(), joined(options_of(*inner)).c_str());
    }
  }
  std::printf(
      "    esac\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}\n"
      "complete -o default -F _phoenix phoenix\n");
}

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

void print_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    std::printf(".TP\n\\fB%s\\fR\n%s\n", literal(option->get_name(false, true)).c_str(),
                literal(option->get_description()).c_str());
  }
}

void print_verb(const CLI::App& verb, const std::string& name) {
  std::printf(".SS %s\n%s.\n", literal(name).c_str(), literal(verb.get_description()).c_str());
  print_options(verb);
  const std::string footer = verb.get_footer();
  if (!footer.empty()) std::printf(".PP\n.nf\n%s\n.fi\n", literal(footer).c_str());
  for (const CLI::App* inner : subcommands(verb))
    print_verb(*inner, name + " " + inner->get_name());
}

void print_page(const CLI::App& tool) {
  std::printf(".TH PHOENIX 1 \"\" \"phoenix %s\"\n.SH NAME\nphoenix \\- %s\n", PHX_VERSION,
              literal(tool.get_description()).c_str());
  std::printf(".SH SYNOPSIS\n\\fBphoenix\\fR COMMAND [OPTIONS]\n.SH COMMANDS\n");
  for (const CLI::App* verb : subcommands(tool)) print_verb(*verb, "phoenix " + verb->get_name());
  std::printf(".SH EXAMPLES AND ENVIRONMENT\n.nf\n%s\n.fi\n", literal(tool.get_footer()).c_str());
}

}  // namespace

void add_manual(CLI::App& tool, Action& chosen) {
  auto is_completion = std::make_shared<bool>(false);
  CLI::App* verb = tool.add_subcommand("manual", "Print the manual page, for man -l");
  verb->add_flag("--completion", *is_completion, "Print the completion for bash instead");
  verb->footer("phoenix manual | man -l -\nsource <(phoenix manual --completion)");
  verb->callback([is_completion, &tool, &chosen] {
    chosen = [is_completion, &tool] {
      if (*is_completion) {
        print_completion(tool);
      } else {
        print_page(tool);
      }
      return static_cast<int>(kOk);
    };
  });
}

}  // namespace phx::app
