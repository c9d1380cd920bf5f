#include "apps/phoenix/mesh/session.h"

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "apps/phoenix/mesh/starters.h"
#include "apps/phoenix/mesh/waiting.h"
#include "runtime/tcp/key.h"

namespace phx::app {
namespace {

constexpr Duration kStatusTimeout = 5s;
constexpr int kTriesMax = 20;
constexpr auto kPause = std::chrono::milliseconds(50);

bool is_lost(const Error& error) {
  return error.code == ErrorCode::kUnavailable;
}

std::string other_meshes(const std::string& name) {
  std::string list;
  for (const std::string& other : MeshDir::names()) {
    if (other != name && !MeshDir::is_private(other)) list += (list.empty() ? "" : ", ") + other;
  }
  return list.empty() ? "" : " (other meshes of yours: " + list + ")";
}

/// Addresses for a person: three of them at most.
std::string listed(const std::vector<std::string>& endpoints) {
  constexpr std::size_t kListed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(endpoints.size(), kListed); ++i) {
    text += (i == 0 ? "" : ", ") + endpoints[i];
  }
  const std::size_t others = endpoints.size() - std::min(endpoints.size(), kListed);
  return text + (others == 0 ? "" : " and " + std::to_string(others) + " more");
}

/// What remains where no key is to be had, unless daemons here would be left alone by it.
std::string forgetting(const MeshDir& dir) {
  if (!dir.daemons().empty()) return "";
  return ", or, to forget the mesh here, remove " + dir.path().string();
}

/// How to start one.
std::string start_of(const std::string& name) {
  return "phoenix up --local 4" + mesh_words(name);
}

/// `failure` is that of connecting to its daemons.
Error unanswered(const MeshDir& dir, const Error& failure) {
  if (failure.code == ErrorCode::kBadVersion) {
    return Error{ErrorCode::kBadVersion, "mesh '" + dir.name() +
                                             "' was started by another release: " + failure.what +
                                             ", or use that one's phoenix for this mesh"};
  }
  if (failure.code == ErrorCode::kDenied) {
    return Error{ErrorCode::kDenied,
                 "mesh '" + dir.name() + "' does not take the key in " + dir.key_file() + " (" +
                     failure.what + "); copy it from where the mesh was started" + forgetting(dir)};
  }
  // Who has a name that cannot be looked up just now may be there.
  const bool is_known = failure.code != ErrorCode::kNotFound;
  const ErrorCode code = is_known ? failure.code : ErrorCode::kTimeout;
  const std::string far = elsewhere(dir.daemons());
  if (!far.empty()) {
    return Error{code, "no daemon of mesh '" + dir.name() + "' answers (" + failure.what +
                           "), but there is " + far +
                           ": on this machine, in another container; call phoenix there"};
  }
  const bool may_be_there = code == ErrorCode::kTimeout;
  return Error{code, "no daemon of mesh '" + dir.name() + "' answers (" + failure.what + "); " +
                         (may_be_there ? "can this machine reach it, is it overloaded? If it is"
                                       : "if it is") +
                         " gone for good: phoenix down" + mesh_words(dir.name()) +
                         (may_be_there ? " --forget" : "") + ", then " + start_of(dir.name())};
}

}  // namespace

std::string mesh_words(const std::string& name) {
  return name == "default" ? "" : " --mesh " + name;
}

std::string why_silent(const MeshDir& dir) {
  if (is_being_started(dir)) return "mesh '" + dir.name() + "' is just being started";
  return dir.has_key() ? "of mesh '" + dir.name() + "' there is a key here, but no daemon runs"
                       : "";
}

Result<Session> connect_to(const std::string& name, const std::vector<std::string>& endpoints) {
  Result<MeshDir> dir = MeshDir::open(name);
  if (!dir.ok()) return dir.error();
  const std::string start = start_of(name);
  const bool has_key = dir.value().has_key();
  const auto daemons = has_key ? std::vector<MeshDir::Daemon>() : dir.value().daemons();
  if (!daemons.empty()) {
    return Error{ErrorCode::kDenied, "p" + std::to_string(daemons.front().id) + " of mesh '" +
                                         name + "' runs here, but its key is not in " +
                                         dir.value().path().string() + "; copy it to " +
                                         dir.value().key_file() +
                                         " (only yours: chmod 600), or call phoenix on the "
                                         "machine where the mesh was started"};
  }
  const std::string why = endpoints.empty() ? why_silent(dir.value()) : "";
  if (!why.empty()) {
    const bool is_coming = is_being_started(dir.value());
    return Error{ErrorCode::kNotFound,
                 why + other_meshes(name) +
                     (is_coming ? "; try again when it runs: phoenix list counts its daemons"
                                : "; start some, by its service or by " + start)};
  }
  if (!has_key || endpoints.empty()) {
    return Error{ErrorCode::kNotFound,
                 "no mesh '" + name + "' runs here" + other_meshes(name) + "; start one: " + start};
  }
  const auto key = tcp::read_key(dir.value().key_file());
  if (!key.ok()) return key.error();
  const auto on_slow = [&] {
    Waiting(kForever).look("a daemon of mesh '" + name + "' to answer at " + listed(endpoints),
                           Waiting::kQuiet);
  };
  auto client = tcp::ToolClient::connect(endpoints, key.value(), on_slow);
  if (client.ok()) return Session{std::move(dir).value(), std::move(client).value()};
  return unanswered(dir.value(), client.error());
}

Result<Session> connect(const std::string& name, const Choice& choice) {
  const Result<MeshDir> dir = MeshDir::open(name);
  if (!dir.ok()) return dir.error();
  std::vector<std::string> endpoints;
  std::vector<std::string> put_off;
  for (const auto& daemon : dir.value().daemons()) {
    const auto& last = choice.last;
    const bool is_last = std::ranges::find(last, ProcessorId{daemon.id}) != last.end();
    (is_last ? put_off : endpoints).push_back(daemon.endpoint);
  }
  for (const std::string& endpoint : dir.value().known_endpoints()) {
    const bool known = std::ranges::find(endpoints, endpoint) != endpoints.end() ||
                       std::ranges::find(put_off, endpoint) != put_off.end();
    if (!known) endpoints.push_back(endpoint);
  }
  endpoints.insert(endpoints.end(), put_off.begin(), put_off.end());
  const bool leaves_out = std::erase(endpoints, choice.not_at) > 0;
  if (leaves_out && endpoints.empty()) {
    return Error{ErrorCode::kNotFound, "no other daemon of mesh '" + name + "' is known"};
  }
  return connect_to(name, endpoints);
}

bool may_be_there(const Error& failure, const MeshDir& dir) {
  return failure.code == ErrorCode::kBadVersion || failure.code == ErrorCode::kDenied ||
         (failure.code == ErrorCode::kTimeout && dir.has_others());
}

Result<runtime::ClientReply> receive(Session& session, Duration timeout) {
  Waiting waiting(timeout);
  const std::string who = to_string(session.client.daemon()) + " at " + session.client.endpoint();
  auto reply = session.client.receive(std::min(timeout, Waiting::kQuiet));
  const auto is_late = [&] { return !reply.ok() && reply.error().code == ErrorCode::kTimeout; };
  if (is_late() && timeout > Waiting::kQuiet) {
    waiting.look(who + " to answer", Waiting::kQuiet);
    reply = session.client.receive(timeout - Waiting::kQuiet);
  }
  if (!is_late()) return reply;
  return Error{ErrorCode::kTimeout, who + " has not answered within " +
                                        std::to_string(timeout / 1s) +
                                        " s; is it overloaded, or stopped?"};
}

Result<runtime::StatusReply> ask_status(Session& session, bool ask_all, JobId with_vnodes) {
  const runtime::StatusRequest request{ask_all, with_vnodes};
  auto reply = ask<runtime::StatusReply>(session, request, kStatusTimeout);
  for (int tries = 0; !reply.ok() && is_lost(reply.error()) && tries < kTriesMax; ++tries) {
    // It was just leaving, or has as many tools as it takes: another one knows.
    std::this_thread::sleep_for(kPause);
    auto next = connect(session.dir.name(), {.last = {session.client.daemon()}});
    if (!next.ok()) return next.error();
    session = std::move(next).value();
    reply = ask<runtime::StatusReply>(session, request, kStatusTimeout);
  }
  if (!reply.ok()) return reply;
  std::vector<std::string> endpoints;
  for (const auto& [id, member] : reply.value().view.members) {
    if (!member.endpoints.empty()) endpoints.push_back(member.endpoints.front());
  }
  session.dir.remember_endpoints(endpoints);
  return reply;
}

std::vector<std::string> staying_endpoints(const runtime::View& view,
                                           const std::vector<ProcessorId>& without) {
  std::vector<std::string> endpoints;
  for (const auto& [id, member] : view.members) {
    const bool stays = !member.leaving && std::ranges::find(without, id) == without.end();
    if (stays && !member.endpoints.empty()) endpoints.push_back(member.endpoints.front());
  }
  return endpoints;
}

Result<Session> connect_to_staying(const std::string& name,
                                   const std::vector<ProcessorId>& without) {
  auto session = connect(name, {.last = without});
  if (!session.ok()) return session;
  const auto status = ask_status(session.value(), /*ask_all=*/false);
  if (!status.ok()) return status.error();
  const auto staying = staying_endpoints(status.value().view, without);
  const auto& members = status.value().view.members;
  const auto at = members.find(session.value().client.daemon());
  const bool stays = at != members.end() && !at->second.endpoints.empty() &&
                     std::ranges::find(staying, at->second.endpoints.front()) != staying.end();
  return stays ? std::move(session) : connect_to(name, staying);
}

Result<std::vector<ProcessorId>> find_processors(const runtime::View& view,
                                                 const std::vector<std::string>& names,
                                                 const std::string& mesh) {
  std::vector<ProcessorId> found;
  for (const std::string& name : names) {
    const bool has_letter = name.size() > 1 && name.front() == 'p';
    const char* first = name.data() + (has_letter ? 1 : 0);
    const char* last = name.data() + name.size();
    ProcessorId id;
    const auto parsed = std::from_chars(first, last, id.value);
    if (parsed.ec == std::errc{} && parsed.ptr == last && view.members.contains(id)) {
      found.push_back(id);
      continue;
    }
    const std::size_t before = found.size();
    for (const auto& [member_id, member] : view.members) {
      if (member.name == name) found.push_back(member_id);
    }
    if (found.size() == before) {
      return Error{ErrorCode::kNotFound, "no processor or machine '" + name +
                                             "' in this mesh; see phoenix status" +
                                             mesh_words(mesh)};
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace phx::app
