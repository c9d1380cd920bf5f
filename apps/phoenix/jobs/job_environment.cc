#include "apps/phoenix/jobs/job_environment.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace phx::app {
namespace {

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

void put(std::vector<std::string>& all, std::string variable) {
  std::erase_if(all, [&](const std::string& one) { return name_of(one) == name_of(variable); });
  all.push_back(std::move(variable));
}

}  // namespace

std::vector<std::string> environment_of(const std::vector<std::string>& wished) {
  std::vector<std::string> all;
  for (const std::string& wish : wished) {
    if (wish.find('=') != std::string::npos) {
      put(all, wish);
    } else if (wish.ends_with('*')) {
      const std::string_view begin = std::string_view(wish).substr(0, wish.size() - 1);
      for (char** at = environ; *at != nullptr; ++at) {
        if (std::string_view(*at).starts_with(begin)) put(all, *at);
      }
    } else if (const char* value = std::getenv(wish.c_str()); value != nullptr) {
      put(all, wish + "=" + value);
    } else {
      std::fprintf(stderr, "phoenix: -x %s: it has no value here, so it is not set there\n",
                   wish.c_str());
    }
  }
  return all;
}

}  // namespace phx::app
