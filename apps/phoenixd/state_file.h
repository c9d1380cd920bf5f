#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

namespace phx::phoenixd {

/// "<mesh directory>/p<id>.json", by which tools find this daemon: {"id", "pid", "boot", "name",
/// "endpoint", "endpoints"}. Appears complete or not at all; until then it is called
/// "starting-XXXXXX". Removed by the destructor. Locked as long as this process lives: a number
/// alone would prove nothing [mesh_folder.h].
class StateFile {
 public:
  struct Contents {
    ProcessorId id;
    std::string name;
    std::vector<std::string> endpoints;
  };
  /// Makes the file, and takes room for what will be in it: to be called before others count on
  /// this daemon. kDenied: cannot be written; the error says why.
  [[nodiscard]] static Result<StateFile> reserve(const std::string& mesh_dir);
  /// Once this is a member. kDenied: as above, which is seldom now.
  [[nodiscard]] Status fill(const Contents& contents);
  StateFile(StateFile&& other) noexcept;
  StateFile& operator=(StateFile&&) = delete;
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;
  ~StateFile();

 private:
  StateFile(std::string mesh_dir, std::string path, tcp::Descriptor locked);
  std::string mesh_dir_;
  std::string path_;  ///< Empty: moved from.
  tcp::Descriptor locked_;
};

/// The daemon that runs with a state file in this folder and is reached at this port, for a person:
/// "p2 (process 4711)". Empty: none. Limit: one that is reached at another port than its own.
[[nodiscard]] std::string running_at(const std::string& mesh_dir, std::uint16_t port);

/// Of the logs of daemons of this machine that have ended, keeps the latest only. To be called
/// before this process has a state file, which looking at it would unlock.
void trim_logs(const std::string& mesh_dir);

/// Removes what a mesh leaves in its folder, and the folder, unless another daemon has its state
/// file there.
void remove_if_last(const std::string& mesh_dir);

}  // namespace phx::phoenixd
