#include "apps/phoenix/mesh/mesh_dir.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/tcp/address.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/key.h"
#include "runtime/tcp/mesh_folder.h"

namespace phx::app {
namespace fs = std::filesystem;
namespace {

/// Stands beside a key that a tool has made.
constexpr const char* kKeyMark = "key.made";

fs::path base() {
  return tcp::meshes_folder();
}

nlohmann::json read_json(const fs::path& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Result<MeshDir> MeshDir::open(const std::string& name) {
  const bool legal = !name.empty() && name.size() <= 64 && name.front() != '.' &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                     });
  if (!legal) {
    return Error{ErrorCode::kBadInput,
                 "'" + name + "' is no name for a mesh: up to 64 letters, digits, - _ ."};
  }
  for (const fs::path& path : {base(), base() / name}) {
    if (const Status checked = tcp::check_private(path); !checked.ok()) return checked.error();
  }
  return MeshDir(name, base() / name);
}

Result<MeshDir> MeshDir::make(const std::string& name) {
  if (auto before = open(name); !before.ok()) return before;
  for (const fs::path& path : {base(), base() / name}) {
    if (const Status made = tcp::make_private(path); !made.ok()) return made.error();
  }
  return open(name);
}

std::vector<std::string> MeshDir::names() {
  std::vector<std::string> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(base(), failure)) {
    if (fs::exists(entry.path() / "key", failure)) result.push_back(entry.path().filename());
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string> MeshDir::private_names() {
  std::vector<std::string> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(base(), failure)) {
    if (is_private(entry.path().filename())) result.push_back(entry.path().filename());
  }
  return result;
}

bool MeshDir::is_private(const std::string& name) {
  // A word, the number of a process, and another number where the name was taken.
  for (const std::string_view kind : {"run-", "mpirun-"}) {
    if (!name.starts_with(kind)) continue;
    const std::string numbers = name.substr(kind.size());
    const auto dash = numbers.find('-');
    return is_number(numbers.substr(0, dash)) &&
           (dash == std::string::npos || is_number(numbers.substr(dash + 1)));
  }
  return false;
}

bool MeshDir::has_key() const {
  std::error_code failure;
  return fs::exists(path_ / "key", failure);
}

std::vector<MeshDir::Daemon> MeshDir::daemons() const {
  std::vector<Daemon> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(path_, failure)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "mesh.json") continue;
    const nlohmann::json state = read_json(entry.path());
    if (!state.is_object() || state.value("boot", "") != tcp::boot_id()) continue;
    const std::optional<pid_t> process = tcp::holder_of(entry.path());
    Daemon daemon;
    daemon.id = state.value("id", 0U);
    daemon.endpoint = state.value("endpoint", "");
    daemon.process = process.value_or(tcp::kUnnamed);
    daemon.state_file = entry.path();
    if (process && !daemon.endpoint.empty()) result.push_back(std::move(daemon));
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return result;
}

std::vector<std::string> MeshDir::known_endpoints() const {
  const nlohmann::json known = read_json(path_ / "mesh.json");
  if (!known.is_object()) return {};
  return known.value("endpoints", std::vector<std::string>{});
}

bool MeshDir::has_others() const {
  const std::vector<std::string> own = tcp::interface_addresses();
  return std::ranges::any_of(known_endpoints(), [&](const std::string& endpoint) {
    const auto address = tcp::parse_address(endpoint);
    return !address.ok() || (!tcp::is_loopback(address.value().name) &&
                             std::ranges::find(own, address.value().name) == own.end());
  });
}

bool MeshDir::has_lost_endpoints() const {
  std::error_code failure;
  return fs::exists(path_ / "mesh.json", failure) && known_endpoints().empty();
}

void MeshDir::remember_endpoints(const std::vector<std::string>& endpoints) const {
  // A name of its own: several tools may do this at once.
  std::string fresh = path_ / "mesh.json.XXXXXX";
  const tcp::Descriptor made(::mkostemp(fresh.data(), O_CLOEXEC));
  if (!made.is_open()) return;
  std::ofstream stream(fresh);
  stream << nlohmann::json{{"endpoints", endpoints}}.dump() << '\n';
  stream.close();
  std::error_code failure;
  if (stream) {
    fs::rename(fresh, path_ / "mesh.json", failure);
  } else {  // Disk full. A hint only: the daemons' own files are enough on this machine.
    fs::remove(fresh, failure);
  }
}

void MeshDir::remove_dead() const {
  std::error_code failure;
  std::vector<std::pair<fs::path, int>> dead;
  std::set<int> living;  // Of several containers, two may have had the same number.
  for (const auto& entry : fs::directory_iterator(path_, failure)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "mesh.json") continue;
    const nlohmann::json state = read_json(entry.path());
    if (!state.is_object() || state.value("boot", "") != tcp::boot_id()) continue;
    const int process = state.value("pid", 0);
    if (tcp::holder_of(entry.path())) {
      living.insert(process);
    } else {
      dead.emplace_back(entry.path(), process);
    }
  }
  // No number of a processor is given twice, so nobody takes these files over. Another tool may
  // have removed them.
  for (const auto& [file, process] : dead) {
    fs::remove(file, failure);
    if (living.contains(process)) continue;
    fs::remove(path_ / ("app-" + std::to_string(process) + ".sock"), failure);
  }
}

std::string MeshDir::key_stamp() const {
  struct stat key {};
  if (::stat(key_file().c_str(), &key) != 0) return {};
  return std::to_string(key.st_ino) + "." + std::to_string(key.st_mtim.tv_sec) + "." +
         std::to_string(key.st_mtim.tv_nsec);
}

bool MeshDir::made_key() const {
  std::string mark;
  std::ifstream(path_ / kKeyMark) >> mark;
  return mark == key_stamp();
}

void MeshDir::renew_stamp() const {
  const bool was_made = made_key();
  ::utimensat(AT_FDCWD, key_file().c_str(), nullptr, 0);
  if (was_made) std::ofstream(path_ / kKeyMark) << key_stamp();
}

Status MeshDir::make_key() const {
  const auto key = tcp::create_key(key_file());
  if (!key.ok()) return key.error();
  // Without it the key stays when the mesh ends, which does no harm.
  std::ofstream(path_ / kKeyMark) << key_stamp();
  return success();
}

void MeshDir::remove() const {
  const bool is_own = is_private(name_) || !has_key() || made_key();
  if (is_own) return tcp::remove_folder(path_);
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(path_, failure)) {
    if (entry.path() != key_file()) fs::remove_all(entry.path(), failure);
  }
}

std::string in_words(const MeshDir::Daemon& daemon) {
  return "p" + std::to_string(daemon.id) + " (" + tcp::in_words(daemon.process) + ")";
}

std::string elsewhere(const std::vector<MeshDir::Daemon>& daemons) {
  std::string list;
  for (const MeshDir::Daemon& daemon : daemons) {
    if (daemon.process != tcp::kUnnamed) continue;
    list += (list.empty() ? "p" : ", p") + std::to_string(daemon.id);
  }
  const auto comma = list.rfind(", ");
  return comma == std::string::npos ? list : list.replace(comma, 2, " and ");
}

}  // namespace phx::app
