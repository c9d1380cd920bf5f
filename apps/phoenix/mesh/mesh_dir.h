#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "overlay/base/result.h"

namespace phx::app {

/// Where one user keeps one mesh on this machine: key, the daemons' state files, sockets and logs.
/// Below tcp::meshes_folder(); only its owner can look inside, so two users, or two names, never
/// see each other.
class MeshDir {
 public:
  /// What phoenixd writes down about itself.
  struct Daemon {
    std::uint32_t id = 0;
    std::string endpoint;
    pid_t process = 0;       ///< tcp::kUnnamed: it has no number here.
    std::string state_file;  ///< Locked by that process, as long as it lives.
  };

  /// Makes nothing: a mesh that never was has no key. Fails (kDenied) if the folder exists and
  /// belongs to somebody else, (kBadInput) for a name that is not made of letters, digits, '-', '_'
  /// and '.'.
  [[nodiscard]] static Result<MeshDir> open(const std::string& name);
  /// The same, and makes the folder.
  [[nodiscard]] static Result<MeshDir> make(const std::string& name);
  /// The names of all meshes with a key.
  [[nodiscard]] static std::vector<std::string> names();
  /// Those of all folders of private meshes, with or without.
  [[nodiscard]] static std::vector<std::string> private_names();
  /// Of a mesh that a tool has made for itself [private_mesh.h].
  [[nodiscard]] static bool is_private(const std::string& name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string key_file() const { return path_ / "key"; }
  [[nodiscard]] bool has_key() const;
  /// Tells the key, and so the mesh, from others that have had this name. Empty: there is none.
  [[nodiscard]] std::string key_stamp() const;
  /// There is a mesh that tools here can ask, or there was: not only a key.
  [[nodiscard]] bool is_known() const {
    return !daemons().empty() || (has_key() && !known_endpoints().empty());
  }
  /// A mesh begins anew with the key of one that has ended: from now on the two are told apart.
  void renew_stamp() const;
  /// A fresh key, which goes with the folder. kDenied: it cannot be written; kBusy: there is one.
  [[nodiscard]] Status make_key() const;

  /// Daemons of this machine that run; files of dead processes are left out.
  [[nodiscard]] std::vector<Daemon> daemons() const;
  /// Addresses of daemons anywhere, as far as the tools have heard.
  [[nodiscard]] std::vector<std::string> known_endpoints() const;
  /// Some of these are of other machines.
  [[nodiscard]] bool has_others() const;
  /// There were some, and what is written of them cannot be read.
  [[nodiscard]] bool has_lost_endpoints() const;
  void remember_endpoints(const std::vector<std::string>& endpoints) const;
  /// Removes what daemons of this machine have left that were killed.
  void remove_dead() const;
  /// Removes the folder with all that is in it; but a key stays that somebody else has put there,
  /// unless it is that of a private mesh.
  void remove() const;

 private:
  MeshDir(std::string name, std::filesystem::path path)
      : name_(std::move(name)), path_(std::move(path)) {}
  /// And nobody has put another one there since.
  [[nodiscard]] bool made_key() const;

  std::string name_;
  std::filesystem::path path_;
};

/// For a person: "p3 (process 4711)", or "p3 (in another container)".
[[nodiscard]] std::string in_words(const MeshDir::Daemon& daemon);
/// Those of them that get no signal from here, as "p3 and p4"; empty: none.
[[nodiscard]] std::string elsewhere(const std::vector<MeshDir::Daemon>& daemons);

}  // namespace phx::app
