#include "runtime/tcp/admission.h"

#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "overlay/base/rng.h"
#include "runtime/tcp/client.h"
#include "runtime/tcp/greeting.h"
#include "runtime/tcp/own_addresses.h"
#include "runtime/tcp/steady_now.h"

namespace phx::tcp {
namespace {

bool is_nobody(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
}

bool worth_another_try(const Error& error) {
  return is_nobody(error) || error.code == ErrorCode::kBusy || error.code == ErrorCode::kNotFound;
}

Result<runtime::JoinReply> ask(ToolClient& member, const runtime::Member& newcomer,
                               Duration patience) {
  const Status sent = member.send(runtime::JoinRequest{newcomer});
  if (!sent.ok()) return sent.error();
  Result<runtime::ClientReply> reply = member.receive(patience);
  if (!reply.ok() && reply.error().code == ErrorCode::kTimeout) {
    return Error{ErrorCode::kTimeout,
                 to_string(member.daemon()) + " at " + member.endpoint() +
                     " has not let this processor in: it hangs, or the coordinator does"};
  }
  if (!reply.ok()) return reply.error();
  if (const auto* done = std::get_if<runtime::Done>(&reply.value())) {
    return Error{ErrorCode::kBusy, done->error};  // it has no place for one more tool
  }
  auto* const join = std::get_if<runtime::JoinReply>(&reply.value());
  if (join == nullptr) return Error{ErrorCode::kBadInput, "the member gave a wrong answer"};
  if (!join->refusal.empty()) {
    const auto code = join->is_final ? ErrorCode::kDenied : ErrorCode::kBusy;
    return Error{code, "the mesh refuses: " + join->refusal};
  }
  return std::move(*join);
}

Result<runtime::JoinReply> join_mesh(std::vector<std::string> order, const MeshKey& key,
                                     const runtime::Member& newcomer, Duration patience) {
  constexpr int kPauseMs = 100;
  const Instant until = steady_now() + patience;
  Error last;
  while (true) {
    // Each has the head start once: the first that lets us in may be leaving.
    for (std::size_t i = 0; i < order.size(); ++i) {
      Result<ToolClient> member = ToolClient::connect(order, key);
      const Duration left = until - steady_now();
      // Who is let in after it has given up would be a member that is not there.
      if (member.ok() && left > Duration::zero()) {
        Result<runtime::JoinReply> reply = ask(member.value(), newcomer, left);
        const bool is_final = !reply.ok() && reply.error().code == ErrorCode::kDenied;
        if (reply.ok() || is_final) return reply;
        last = reply.error();
      } else if (!member.ok()) {
        last = member.error();
      } else if (last.code != ErrorCode::kBusy) {  // that says more
        last = {ErrorCode::kTimeout, member.value().endpoint() + " has answered too late"};
      }
      if (steady_now() >= until) break;
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    if (!worth_another_try(last) || steady_now() >= until) return last;
    ::poll(nullptr, 0, kPauseMs);
  }
}

/// Members answer; those that are being started do not yet. A name that cannot be looked up says
/// nothing: so early the network may not be there.
bool is_anybody_there(const std::vector<std::string>& endpoints, const MeshKey& key) {
  const auto met = ToolClient::connect(endpoints, key);
  return met.ok() || !is_nobody(met.error());
}

}  // namespace

Result<runtime::Birth> begin_or_join(const Newcomer& newcomer, const MeshKey& key,
                                     Duration patience) {
  const std::vector<std::string>& all = newcomer.asked;
  if (all.empty()) return runtime::Birth::first_of_mesh(newcomer.self);
  std::vector<std::string> others =
      without_own(all, {newcomer.bound, newcomer.self.endpoints}, kConnectTimeout);
  if (others.empty()) {
    return Error{ErrorCode::kBadInput, "cannot join the mesh: " + all.front() +
                                           " is this daemon itself; without --join a mesh begins"};
  }
  const bool is_first = others.front() != all.front();  // else it has not been left out
  if (is_first && !is_anybody_there(others, key)) {
    auto birth = runtime::Birth::first_of_mesh(newcomer.self);
    // Who begins it once more by the same list begins a part of the same mesh.
    birth.snapshot.view.origin = Rng(0).fork(all.front()).next();
    birth.elsewhere = std::move(others);
    return birth;
  }
  Result<runtime::JoinReply> reply = join_mesh(others, key, newcomer.self, patience);
  if (!reply.ok()) {
    const bool has_list = others.size() < all.size();
    return Error{reply.error().code,
                 "cannot join the mesh: " + reply.error().what +
                     (has_list && is_nobody(reply.error())
                          ? "; it begins where the first of the list, " + all.front() + ", is"
                          : "")};
  }
  const ProcessorId id = reply.value().id;
  return runtime::Birth{.self = id, .snapshot = std::move(reply).value()};
}

}  // namespace phx::tcp
