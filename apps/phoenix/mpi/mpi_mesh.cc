#include "apps/phoenix/mpi/mpi_mesh.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/texts/amounts.h"
#include "overlay/network/network_words.h"
#include "runtime/tcp/steady_now.h"

namespace phx::app {
namespace {

constexpr Duration kMeasuring = 2s;
constexpr Duration kLookAgain = 50ms;
constexpr Duration kAnswer = 5s;
constexpr std::size_t kWordsMost = 100'000;  // Linux takes 131,072 bytes for one setting.

/// A shell script whose words are arguments, so that nothing has to be quoted.
class Script {
 public:
  void line(const std::string& text) { text_ += text + "\n"; }
  /// How the script names this word.
  std::string word(const std::string& value) {
    words_.push_back(value);
    return "\"${" + std::to_string(words_.size()) + "}\"";
  }
  [[nodiscard]] std::vector<std::string> command() const {
    std::vector<std::string> all{"/bin/sh", "-c", text_, "mpirun"};
    all.insert(all.end(), words_.begin(), words_.end());
    return all;
  }

 private:
  std::string text_;
  std::vector<std::string> words_;
};

/// A path is made absolute, since the process runs in another folder; a bare name is looked up.
std::string found_from_here(const std::string& program) {
  std::error_code failure;
  if (program.find('/') == std::string::npos) return program;
  return std::filesystem::absolute(program, failure).lexically_normal();
}

}  // namespace

std::vector<std::string> one_command(const std::vector<MpiProgram>& programs) {
  Script script;
  std::size_t end = 0;
  for (const MpiProgram& program : programs) {
    end += program.count;
    script.line("if [ \"$PHOENIX_FIRST_VNODE\" -lt " + std::to_string(end) + " ]; then");
    for (const std::string& setting : program.spec.environment) {
      constexpr std::string_view kLibraries = "LD_LIBRARY_PATH=";
      if (!setting.starts_with(kLibraries)) {
        script.line("export " + script.word(setting));
        continue;
      }
      // The daemon's folder stays in front, as for a single program.
      script.line("export LD_LIBRARY_PATH=\"${PHOENIX_MPI_FOLDER:+$PHOENIX_MPI_FOLDER:}\"" +
                  script.word(setting.substr(kLibraries.size())));
    }
    if (!program.spec.folder.empty()) {
      script.line("cd " + script.word(program.spec.folder) + " || exit 2");
    }
    std::string words = "exec";
    for (const std::string& word : program.spec.command) {
      const bool is_first = &word == &program.spec.command.front();
      words += " " + script.word(is_first ? found_from_here(word) : word);
    }
    script.line(words);
    script.line("fi");
  }
  // A process that begins with no vnode.
  script.line("echo 'mpirun: there is no rank for this process' >&2");
  script.line("exit 1");
  return script.command();
}

Status has_room(const std::string& mesh, std::size_t ranks) {
  auto session = connect(mesh);
  if (!session.ok()) return session.error();
  const auto status = ask_status(session.value(), /*ask_all=*/false);
  if (!status.ok()) return status.error();
  const std::size_t places = staying_endpoints(status.value().view, {}).size();
  if (places >= ranks) return success();
  return Error{ErrorCode::kUnavailable,
               "mpirun: the mesh has too few processors: " + counted(ranks, "rank") +
                   " take one each, and there " + (places == 1 ? "is " : "are ") +
                   std::to_string(places) +
                   "; phoenix add adds more; without --mesh any number of ranks fits"};
}

std::string network_setting(const std::string& mesh) {
  const std::string setting = "PHOENIX_NETWORK=";
  auto session = connect(mesh);
  if (!session.ok()) return setting;
  const Instant give_up = tcp::steady_now() + kMeasuring;
  while (true) {
    const auto status = ask_status(session.value(), /*ask_all=*/false);
    const auto update =
        ask<overlay::NetworkUpdate>(session.value(), runtime::NetworkRequest{}, kAnswer);
    if (!status.ok() || !update.ok()) return setting;
    ProcessorSet members;
    for (const auto& [id, member] : status.value().view.members) members.insert(id);
    const overlay::KnownNetwork& network = update.value().network;
    const bool is_complete = network.processors().contains_all(members);
    if (!is_complete && members.size() > 1 && tcp::steady_now() < give_up) {
      std::this_thread::sleep_for(kLookAgain);
      continue;
    }
    const std::string words = overlay::in_words(network);
    return network.sites.empty() || words.size() > kWordsMost ? setting : setting + words;
  }
}

}  // namespace phx::app
