#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

// Where one user keeps meshes on one machine, and how daemons prove there that they live. Tools and
// daemons use the same functions, so none accepts what the other refuses.
namespace phx::tcp {

/// The folder of all meshes: $PHOENIX_DIR, else $XDG_RUNTIME_DIR/phoenix, else /tmp/phoenix-UID.
[[nodiscard]] std::string meshes_folder();

/// That `path` is a folder of this user that nobody else can open, or nothing at all. Nobody but
/// this user and the system may be able to put another one in its place: neither by a symbolic
/// link, nor by the folders above. kDenied: the error says what is wrong, and what to do.
[[nodiscard]] Status check_private(const std::string& path);
/// The same, and makes it, and those above, if it is missing.
[[nodiscard]] Status make_private(const std::string& path);

/// Removes a folder with all that is in it, also while processes that end take away their own
/// files.
void remove_folder(const std::string& path);

/// Holds a file locked as long as it is open and this process lives. kDenied: it cannot be.
[[nodiscard]] Status lock_for_life(const Descriptor& file);
/// Somebody who lives and has no number here: a process of another PID namespace, as that of
/// another container. It gets no signals from here.
inline constexpr pid_t kUnnamed = 0;
/// The process of this machine that has locked the file at `path` for its life, as the system says,
/// or kUnnamed. Who cannot be asked for may live: kUnnamed.
[[nodiscard]] std::optional<pid_t> holder_of(const std::string& path);
/// The same of a file that is open.
[[nodiscard]] std::optional<pid_t> holder_of(const Descriptor& file);
/// For a person: "process 4711", or "in another container".
[[nodiscard]] std::string in_words(pid_t holder);
/// A signal to that very process, and to no other that got its number; to nobody if it has none.
void signal_holder_of(const std::string& path, int signal);

/// Tells this machine, since its last start, from all others: files in a folder that several share.
[[nodiscard]] std::string boot_id();

}  // namespace phx::tcp
