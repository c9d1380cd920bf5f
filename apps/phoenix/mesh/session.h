#pragma once

#include <string>
#include <vector>

#include "apps/phoenix/mesh/mesh_dir.h"
#include "overlay/base/result.h"
#include "runtime/messages/client_messages.h"
#include "runtime/tcp/client.h"

namespace phx::app {

/// A connection of the tool to some daemon of a mesh.
struct Session {
  MeshDir dir;
  tcp::ToolClient client;
};

/// Whom to prefer, and whom to leave alone.
struct Choice {
  std::vector<ProcessorId> last =
      {};                   ///< Those of them on this machine are tried after all others.
  std::string not_at = {};  ///< This address is not tried.
};

/// Behind a command that is for this mesh: " --mesh x", or nothing.
[[nodiscard]] std::string mesh_words(const std::string& name);

/// Why no daemon of this mesh can be asked that has left something here: "mesh 'x' is just being
/// started". Empty: there is nothing of it, not even a key.
[[nodiscard]] std::string why_silent(const MeshDir& dir);

/// Connects to the daemon of the mesh `name` that answers first: those of this machine are tried
/// first, then others known. The error says what to do, e.g. that no mesh of this name runs.
[[nodiscard]] Result<Session> connect(const std::string& name, const Choice& choice = {});

/// Whether daemons may run although connect() failed so: of another release, of another key, or far
/// away and out of reach. Of those of this machine alone it is known that they are gone.
[[nodiscard]] bool may_be_there(const Error& failure, const MeshDir& dir);
/// Connects to the daemon at one of these addresses.
[[nodiscard]] Result<Session> connect_to(const std::string& name,
                                         const std::vector<std::string>& endpoints);

/// The same, but to a daemon that is neither leaving nor among `without`: for what takes a while.
[[nodiscard]] Result<Session> connect_to_staying(const std::string& name,
                                                 const std::vector<ProcessorId>& without = {});

/// Where those members are who are neither leaving nor among `without`.
[[nodiscard]] std::vector<std::string> staying_endpoints(const runtime::View& view,
                                                         const std::vector<ProcessorId>& without);

/// Asks for the state of the whole mesh, and remembers where its daemons are. Goes over to another
/// daemon if this one has just left.
/// `with_vnodes`: of this job with figures of its vnodes.
[[nodiscard]] Result<runtime::StatusReply> ask_status(Session& session, bool ask_all = true,
                                                      JobId with_vnodes = {});

/// What the daemon sends next, and says on stderr for whom it waits if that takes long. kTimeout:
/// the error names the daemon and its place.
[[nodiscard]] Result<runtime::ClientReply> receive(Session& session, Duration timeout);

/// Sends `request` and waits for the answer of type `Answer`; a Done with an error is an error.
template <class Answer>
[[nodiscard]] Result<Answer> ask(Session& session, const runtime::ClientRequest& request,
                                 Duration timeout) {
  if (const Status sent = session.client.send(request); !sent.ok()) return sent.error();
  Result<runtime::ClientReply> reply = receive(session, timeout);
  if (!reply.ok()) return reply.error();
  if (auto* answer = std::get_if<Answer>(&reply.value())) return std::move(*answer);
  if (const auto* done = std::get_if<runtime::Done>(&reply.value())) {
    return Error{ErrorCode::kUnavailable, done->error};
  }
  return Error{ErrorCode::kBadInput, to_string(session.client.daemon()) +
                                         " answered something else; is it of this version?"};
}

/// The processors that `names` (p3, 3, or a machine's name) mean in the `view` of this mesh.
[[nodiscard]] Result<std::vector<ProcessorId>> find_processors(
    const runtime::View& view, const std::vector<std::string>& names, const std::string& mesh);

}  // namespace phx::app
