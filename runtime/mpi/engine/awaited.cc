#include "runtime/mpi/engine/awaited.h"

#include <utility>

#include "runtime/mpi/base/calling.h"
#include "runtime/mpi/engine/schedule.h"
#include "runtime/mpi/engine/start.h"

namespace phx::mpi {
namespace {

std::string rank_of(int source) {
  return source == MPI_ANY_SOURCE ? "any rank" : "rank " + std::to_string(source);
}

std::string spell(const ReceiveRequest& receive) {
  if (receive.number == 0) return spell(receive.wanted);
  return "the rest of a message of " + rank_of(receive.wanted.source);
}

/// Its own messages have no tags that a program knows.
std::string spell(const Schedule& schedule) {
  const Request* const part = schedule.open_part();
  if (part == nullptr) return "the others";
  if (part->kind != Request::Kind::kReceive) return spell(*part);
  return rank_of(static_cast<const ReceiveRequest&>(*part).wanted.source);
}

}  // namespace

std::string spell(const Wanted& wanted) {
  const std::string tag =
      wanted.tag == MPI_ANY_TAG ? " with any tag" : " with tag " + std::to_string(wanted.tag);
  return "a message of " + rank_of(wanted.source) + tag;
}

std::string spell(const Request& request) {
  switch (request.kind) {
    case Request::Kind::kReceive:
      return spell(static_cast<const ReceiveRequest&>(request));
    case Request::Kind::kSend:
      return "a receive by rank " + std::to_string(static_cast<const SendRequest&>(request).to) +
             " of MPI_COMM_WORLD";
    case Request::Kind::kSchedule:
      return spell(static_cast<const Schedule&>(request));
    case Request::Kind::kGeneral:
      return "MPI_Grequest_complete";
    case Request::Kind::kPersistent: {
      const Ref<Request>& active = static_cast<const PersistentRequest&>(request).active;
      return active ? spell(*active) : "nothing";
    }
    case Request::Kind::kMessage:
      break;
  }
  return "a message";
}

std::string LongWait::tell() {
  std::string words = spell(last_entered) + " (" + what_() + ")";
  if (!std::exchange(is_told_, true)) note_to_launcher("waits " + words);
  return words;
}

void LongWait::go_on() {
  if (std::exchange(is_told_, false)) note_to_launcher("goes on");
}

}  // namespace phx::mpi
