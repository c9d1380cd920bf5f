#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/phoenix/command_line/manual_page.h"
#include "apps/phoenix/command_line/verbs.h"

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
      "    case $verb in\n"
      "      drain) words+=$(phoenix status 2>/dev/null | grep -o '^p[0-9]*') ;;\n"
      "      attach|kill|logs|status) words+=$(phoenix ps 2>/dev/null | grep -o '^j[0-9]*') ;;\n"
      "    esac\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}\n"
      "complete -o default -F _phoenix phoenix\n");
}

}  // namespace

void add_manual(const options::Parser& tool, Action& chosen) {
  auto is_completion = std::make_shared<bool>(false);
  const options::Parser verb = tool.add_subcommand("manual", "Print the manual page, for man -l");
  verb.add_flag("--completion", *is_completion, "Print the completion for bash instead");
  verb.footer("phoenix manual | man -l -\nsource <(phoenix manual --completion)");
  verb.callback([is_completion, tool, &chosen] {
    chosen = [is_completion, tool] {
      if (*is_completion) {
        print_completion(tool.app());
      } else {
        const ManualPage page{.name = "phoenix",
                              .synopsis = "COMMAND [OPTIONS]",
                              .closing = "EXAMPLES AND ENVIRONMENT"};
        std::fputs(manual_page(tool.app(), page).c_str(), stdout);
      }
      return static_cast<int>(kOk);
    };
  });
}

}  // namespace phx::app
