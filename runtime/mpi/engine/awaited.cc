#include "runtime/mpi/engine/awaited.h"

#include <atomic>
#include <utility>

#include "runtime/mpi/base/calling.h"
#include "runtime/mpi/engine/schedule.h"
#include "runtime/mpi/engine/start.h"

namespace phx::mpi {
namespace {

/// Of the waits of this process.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

std::string rank_of(int source) {
  return source == MPI_ANY_SOURCE ? "any rank" : "rank " + std::to_string(source);
}

/// Messages of a schedule have no tags that a program knows. Results come from no rank alone.
std::string spell_part(const Request& part) {
  const auto* receive = dynamic_cast<const ReceiveRequest*>(&part);
  if (receive == nullptr) return spell(part);
  return receive->wanted.source == MPI_ANY_SOURCE ? "the others" : rank_of(receive->wanted.source);
}

}  // namespace

std::string spell(const Wanted& wanted) {
  const std::string tag =
      wanted.tag == MPI_ANY_TAG ? " with any tag" : " with tag " + std::to_string(wanted.tag);
  return "a message of " + rank_of(wanted.source) + tag;
}

std::string spell(const Request& request) {
  if (const auto* receive = dynamic_cast<const ReceiveRequest*>(&request)) {
    if (receive->number == 0) return spell(receive->wanted);
    return "the rest of a message of " + rank_of(receive->wanted.source);
  }
  if (const auto* send = dynamic_cast<const SendRequest*>(&request)) {
    return "a receive by rank " + std::to_string(send->to) + " of MPI_COMM_WORLD";
  }
  if (const auto* schedule = dynamic_cast<const Schedule*>(&request)) {
    const Request* const part = schedule->open_part();
    return part == nullptr ? "the others" : spell_part(*part);
  }
  if (const auto* persistent = dynamic_cast<const PersistentRequest*>(&request)) {
    return persistent->active ? spell(*persistent->active) : "nothing";
  }
  // What is for all, or for none.
  return request.kind == Request::Kind::kGeneral ? "MPI_Grequest_complete" : "the others";
}

std::string LongWait::tell() {
  std::string words = spell(last_entered) + " (" + what_() + ")";
  if (number_ == 0) {
    const std::uint64_t number = next_number();
    if (note_to_launcher("waits " + std::to_string(number) + " " + words)) number_ = number;
  }
  return words;
}

void LongWait::go_on() {
  if (number_ == 0) return;
  note_to_launcher("goes on " + std::to_string(std::exchange(number_, 0)));
}

}  // namespace phx::mpi
