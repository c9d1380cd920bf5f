#include "runtime/mpi/engine/traffic.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "runtime/api/fresh_payload.h"
#include "runtime/mpi/engine/schedule.h"

namespace phx::mpi {
namespace {

using Is = Head::Kind;

constexpr std::uint32_t kWasCast = 2;
/// So much is read of a near rank before it is unpacked, out of the caches.
constexpr MPI_Count kReadAhead = 64 * 1024;

Head head_of(const Scope& scope, int tag, const Buffer& buffer) {
  Head head;
  head.context = scope.context;
  head.source = scope.rank;
  head.tag = tag;
  head.bytes = static_cast<std::uint64_t>(buffer.bytes());
  return head;
}

/// What the head says of a message that has met its receive. How much of it there is room for.
MPI_Count take_outcome(ReceiveRequest& receive, const Head& head) {
  receive.sent = static_cast<MPI_Count>(head.bytes);
  const MPI_Count room = std::min(receive.sent, receive.buffer.bytes());
  const int error = room < receive.sent ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  receive.outcome = {head.source, head.tag, room, false, error};
  return room;
}

}  // namespace

// --- Messages ----------------------------------------------------------------------------------

Payload Traffic::Output::pack(MPI_Count from) const {
  const MPI_Count end = std::min(from + kPart, bytes);
  auto [memory, part] = fresh_payload(static_cast<std::size_t>(end - from));
  packs->buffer.pack(from, end, memory);
  return std::move(part);
}

void Traffic::emit(Output output) {
  output.to == self_ ? to_self_.push_back(std::move(output))
                     : outputs_.push_back(std::move(output));
}

void Traffic::put(int to, const Head& head, const Buffer* buffer) {
  const MPI_Count bytes = buffer == nullptr ? 0 : buffer->bytes();
  const std::size_t size = sizeof(Head) + static_cast<std::size_t>(bytes);
  const auto write = [&](std::byte* into) {
    std::memcpy(into, &head, sizeof(Head));
    if (bytes > 0) buffer->pack(0, bytes, into + sizeof(Head));
  };
  // What has to leave before keeps its place.
  const bool is_next = near_.room && to >= 0 && to != self_ && outputs_.empty();
  if (std::byte* const room = is_next ? near_.room(to, size) : nullptr) {
    write(room);
    return near_.leave(to, size);
  }
  auto [memory, payload] = fresh_payload(size);
  write(memory);
  emit({to, 0, std::move(payload)});
}

void Traffic::on_message(int from, std::uint32_t tag, const Payload& payload, bool is_lent) {
  if (tag != 0) {
    handle_part(tag, payload);
  } else if (payload.size() >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, payload.bytes().data(), sizeof(Head));
    handle({{from, head, payload.slice(sizeof(Head), payload.size() - sizeof(Head))}, is_lent});
  }
  settle();
}

void Traffic::handle(Came came) {
  const Head& head = came.message.head;
  switch (head.kind) {
    case Is::kWhole:
    case Is::kAsk: {
      if (const Ref<ReceiveRequest> receive = matching_.take(head)) {
        match(*receive, came.message);
        return;
      }
      if (came.is_lent) came.message.bytes = Payload::copy_of(came.message.bytes.bytes());
      matching_.keep(std::move(came.message));
      ++kept_;
      return;
    }
    case Is::kGrant:
      return grant(head);
    case Is::kCredit:
      ahead_.on_credit(came.message.from,
                       {static_cast<MPI_Count>(head.bytes), static_cast<MPI_Count>(head.address)});
      return release_casts();
    case Is::kTaken:
    case Is::kWithdrawn: {
      const auto found = sending_.find(head.sender);
      if (found == sending_.end()) return;
      if (head.kind == Is::kWithdrawn && head.flag == 0) {
        // It has met its receive. What that leads to is under way, but for a send that was done.
        if (found->second->outcome.is_cancelled) return;
      }
      const Ref<SendRequest> send = found->second;
      sending_.erase(found);
      send->outcome.is_cancelled = head.kind == Is::kWithdrawn && head.flag == 1;
      finish(*send);
      return;
    }
    case Is::kWithdraw: {
      Head answer = head;
      answer.kind = Is::kWithdrawn;
      const auto withdrawn = matching_.withdraw(came.message.from, head);
      answer.flag = withdrawn ? 1 : 0;
      // Of a long one only the question was here, which counts for nothing.
      if (withdrawn && withdrawn->head.kind == Is::kWhole) {
        on_taken(withdrawn->from, withdrawn->head);
      }
      return put(came.message.from, answer);
    }
  }
}

// --- Receiving ---------------------------------------------------------------------------------

/// A message has met its receive.
void Traffic::match(ReceiveRequest& receive, const Arrived& arrived) {
  const Head& head = arrived.head;
  const MPI_Count room = take_outcome(receive, head);
  receive.from = arrived.from;
  receive.sender = head.sender;
  Head answer = head;
  if (head.kind == Is::kWhole) {
    if (room > 0) receive.buffer.unpack(0, room, arrived.bytes.bytes().data());
    answer.kind = Is::kTaken;
    if (head.flag == 1) put(arrived.from, answer);
    on_taken(arrived.from, head);
    return finish(receive);
  }
  if (read(receive, head, room)) {
    answer.kind = Is::kTaken;
    put(arrived.from, answer);
    return finish(receive);
  }
  answer.kind = Is::kGrant;
  answer.bytes = static_cast<std::uint64_t>(room);
  if (room > 0) {
    do {
      ++receives_;
      if (receives_ > kLastTag) receives_ = 1;
    } while (receiving_.contains(receives_));
    receive.number = receives_;
    receive.expected = room;
    receive.is_awaited = head.flag == 1;
    receiving_.emplace(receive.number, &receive);
    answer.receiver = receive.number;
  }
  put(arrived.from, answer);
  if (room == 0) finish(receive);
}

/// Gets a long message of a near rank, or of this one, without its help.
bool Traffic::read(ReceiveRequest& receive, const Head& head, MPI_Count bytes) {
  if (const auto own = sending_.find(head.sender); receive.from == self_ && own != sending_.end()) {
    copy(own->second->buffer, receive.buffer, bytes);
    return true;
  }
  if (!near_.read || head.address == 0 || bytes == 0) return false;
  const auto size = [](MPI_Count count) { return static_cast<std::size_t>(count); };
  if (auto* const into = static_cast<std::byte*>(receive.buffer.as_is())) {
    return near_.read(receive.from, head.address, {into, size(bytes)});
  }
  const auto [memory, keeper] = fresh_payload(size(std::min(bytes, kReadAhead)));
  for (MPI_Count at = 0; at < bytes; at += kReadAhead) {
    const MPI_Count end = std::min(at + kReadAhead, bytes);
    if (!near_.read(receive.from, head.address + size(at), {memory, size(end - at)})) return false;
    receive.buffer.unpack(at, end, memory);
  }
  return true;
}

void Traffic::handle_part(std::uint32_t number, const Payload& part) {
  const auto found = receiving_.find(number);
  if (found == receiving_.end()) return;
  ReceiveRequest& receive = *found->second;
  const auto size = static_cast<MPI_Count>(part.size());
  receive.buffer.unpack(receive.received, receive.received + size, part.bytes().data());
  receive.received += size;
  if (receive.received < receive.expected) return;
  if (receive.is_awaited) {
    Head answer;
    answer.kind = Is::kTaken;
    answer.sender = receive.sender;
    put(receive.from, answer);
  }
  const Ref<ReceiveRequest> done = found->second;
  receiving_.erase(found);
  finish(*done);
}

Ref<ReceiveRequest> Traffic::receive(const Wanted& wanted, const Buffer& buffer) {
  Ref<ReceiveRequest> request(new ReceiveRequest(buffer, wanted));
  if (const auto arrived = matching_.take(wanted)) {
    match(*request, *arrived);
    settle();
  } else {
    matching_.post(request);
  }
  return request;
}

Ref<ReceiveRequest> Traffic::receive_taken(Arrived arrived, const Buffer& buffer) {
  const Head& head = arrived.head;
  Ref<ReceiveRequest> request(new ReceiveRequest(buffer, {head.context, head.source, head.tag}));
  match(*request, arrived);
  settle();
  return request;
}

// --- Sending -----------------------------------------------------------------------------------

bool Traffic::may_leave(int process, MPI_Count bytes) {
  const MPI_Count most = near_.read ? static_cast<MPI_Count>(near_.sent_most) : kShortMax;
  return bytes <= most && ahead_.may_send(process, bytes);
}

/// A message to this process whose receive waits goes there with one copy. False: it takes the
/// usual way, because none waits, or because others are on it that may have to come before.
bool Traffic::give_to_self(const Head& head, const Buffer& buffer) {
  if (is_settling_ || !to_self_.empty()) return false;
  const Ref<ReceiveRequest> receive = matching_.take(head);
  if (!receive) return false;
  const MPI_Count room = take_outcome(*receive, head);
  copy(buffer, receive->buffer, room);
  receive->from = self_;
  finish(*receive);
  settle();
  return true;
}

bool Traffic::send_at_once(const Scope& scope, int to, int tag, const Buffer& buffer) {
  const int process = scope.peers->process(to);
  if (process == self_ && give_to_self(head_of(scope, tag, buffer), buffer)) return true;
  if (!may_leave(process, buffer.bytes())) return false;
  put(process, head_of(scope, tag, buffer), &buffer);
  settle();
  return true;
}

Ref<SendRequest> Traffic::send(const Scope& scope, int to, int tag, const Buffer& buffer,
                               Mode mode) {
  const int process = scope.peers->process(to);
  Ref<SendRequest> request(new SendRequest(buffer, process));
  Head head = head_of(scope, tag, buffer);
  if (process == self_ && give_to_self(head, buffer)) {
    request->is_done = true;
    return request;
  }
  head.sender = request->number = ++sends_;
  request->context = scope.context;
  if (may_leave(process, buffer.bytes())) {
    head.flag = mode == Mode::kSynchronous ? 1 : 0;
    if (head.flag != 0) sending_.emplace(head.sender, request);
    put(process, head, &buffer);
    request->is_done = head.flag == 0;
  } else {
    head.kind = Is::kAsk;
    if (mode == Mode::kBuffered) {
      const MPI_Count bytes = buffer.bytes();
      request->copy.resize(static_cast<std::size_t>(bytes));
      buffer.pack(0, bytes, request->copy.data());
      request->buffer = Buffer(request->copy.data(), bytes, MPI_BYTE);
    }
    const void* const memory = request->buffer.as_is();
    if (near_.read) head.address = reinterpret_cast<std::uint64_t>(memory);
    head.flag = memory != nullptr && !near_.read ? 1 : 0;  // What is packed is done by itself.
    sending_.emplace(head.sender, request);
    put(process, head);
  }
  settle();
  return request;
}

Ref<Request> Traffic::cast(const Scope& scope, int tag, const Buffer& buffer) {
  Head head = head_of(scope, tag, buffer);
  head.flag = kWasCast;
  const Ref<Request> request(new Request(Request::Kind::kSend));
  held_.push_back({scope, head, buffer, request});
  release_casts();
  return request;
}

void Traffic::release_casts() {
  const auto may_leave = [this](const Held& one) {
    const std::vector<int>& all = one.scope.peers->processes();
    return std::all_of(all.begin(), all.end(), [this](int to) { return ahead_.may_cast(to); });
  };
  while (!held_.empty() && may_leave(held_.front())) {
    const Held next = std::move(held_.front());
    held_.pop_front();
    for (const int process : next.scope.peers->processes()) {
      if (process != self_) ahead_.on_cast(process, next.buffer.bytes());
    }
    put(kAll, next.head, &next.buffer);
    finish(*next.request);
  }
}

/// A message that travelled at once waits no longer.
void Traffic::on_taken(int from, const Head& head) {
  const auto told =
      ahead_.on_taken(from, static_cast<MPI_Count>(head.bytes), head.flag == kWasCast);
  if (!told) return;
  Head credit;
  credit.kind = Is::kCredit;
  credit.bytes = static_cast<std::uint64_t>(told->sent);
  credit.address = static_cast<std::uint64_t>(told->cast);
  put(from, credit);
}

void Traffic::contribute(int target, const collectives::ReductionKind& kind, const Buffer& value) {
  auto [memory, payload] = fresh_payload(static_cast<std::size_t>(value.bytes()));
  value.pack(0, value.bytes(), memory);
  outputs_.push_back({target, 0, std::move(payload), kind});
}

Ref<ReceiveRequest> Traffic::expect(const Result& of, const Buffer& buffer) {
  Ref<ReceiveRequest> request(new ReceiveRequest(buffer, {}));
  request->expected = buffer.bytes();
  expected_[of].push_back(request);
  return request;
}

void Traffic::on_result(const Result& of, const Payload& part) {
  std::deque<Ref<ReceiveRequest>>& waiting = expected_[of];
  if (waiting.empty()) return;
  const Ref<ReceiveRequest> next = waiting.front();
  const MPI_Count end = next->received + static_cast<MPI_Count>(part.size());
  if (!part.empty() && end <= next->expected) {
    next->buffer.unpack(next->received, end, part.bytes().data());
  }
  next->received = end;
  if (end < next->expected) return;
  waiting.pop_front();
  finish(*next);
  settle();
}

/// The receiver wants the bytes. If they lie side by side the program's memory travels as it is,
/// and the send is done when all have come. A near rank has it copied into its pipe, as all that is
/// packed; such a send is done when that is.
void Traffic::grant(const Head& head) {
  const auto found = sending_.find(head.sender);
  if (found == sending_.end()) return;
  const Ref<SendRequest> send = found->second;
  send->outcome.is_cancelled = false;
  const auto bytes = static_cast<MPI_Count>(head.bytes);
  if (bytes == 0) {
    sending_.erase(found);
    return finish(*send);
  }
  const auto number = static_cast<std::uint32_t>(head.receiver);
  const auto* memory = static_cast<const std::byte*>(send->buffer.as_is());
  if (memory == nullptr || near_.read) return emit({send->to, number, {}, {}, send, bytes});
  for (MPI_Count at = 0; at < bytes; at += kPart) {
    const auto size = static_cast<std::size_t>(std::min(kPart, bytes - at));
    emit({send->to, number, Payload(nullptr, {memory + at, size})});
  }
}

void Traffic::on_packed(SendRequest& send) {
  const Ref<SendRequest> kept(&send);
  if (sending_.erase(send.number) == 0) return;
  send.outcome.is_cancelled = false;  // It had met its receive.
  finish(send);
  settle();
}

void Traffic::cancel(Request& request) {
  if (request.kind == Request::Kind::kReceive) {
    auto& receive = static_cast<ReceiveRequest&>(request);
    if (request.is_done) return;
    const Ref<ReceiveRequest> kept(&receive);
    if (!matching_.withdraw(receive)) return;
    request.outcome.is_cancelled = true;
    finish(request);
  } else if (request.kind == Request::Kind::kSend) {
    auto& send = static_cast<SendRequest&>(request);
    if (send.number == 0 || std::exchange(send.is_withdrawing, true)) return;  // 0: to nobody
    Head head;
    head.kind = Is::kWithdraw;
    head.sender = send.number;
    head.context = send.context;
    // One that has left, or was copied, is done although it may not have been received: it is taken
    // up again.
    const bool is_under_way = !sending_.emplace(send.number, &send).second;
    send.outcome.is_cancelled = is_under_way;
    send.is_done = false;
    put(send.to, head);
  }
  settle();
}

// --- Completion --------------------------------------------------------------------------------

void Traffic::complete(Request& request) {
  finish(request);
  settle();
}

/// REQUIRES a holder of the request besides the thread that waits for it, which may leave at last.
void Traffic::finish(Request& request) {
  ++completions_;
  if (request.when_done) std::exchange(request.when_done, {})();
  if (request.part_of != nullptr && request.part_of->on_part_done(request)) {
    ready_.push_back(Ref<Schedule>(request.part_of));
  }
  request.is_done = true;
}

bool Traffic::is_quiet(std::uint64_t context) const {
  const auto is_of = [&](std::uint64_t half) {
    return half >= context && half < context + kContexts;
  };
  for (std::uint64_t half = context; half < context + kContexts; ++half) {
    if (matching_.has_receives(half)) return false;
  }
  return std::ranges::none_of(sending_, [&](const auto& s) { return is_of(s.second->context); }) &&
         std::ranges::none_of(receiving_,
                              [&](const auto& r) { return is_of(r.second->wanted.context); }) &&
         std::ranges::none_of(held_, [&](const Held& h) { return is_of(h.scope.context); });
}

void Traffic::forget(std::uint64_t context) {
  for (std::uint64_t half = context; half < context + kContexts; ++half) matching_.forget(half);
}

void Traffic::start(const Ref<Schedule>& schedule) {
  running_.emplace(schedule.get(), schedule);
  ready_.push_back(schedule);
  settle();
}

/// Messages to this process, and schedules, as far as they go.
void Traffic::settle() {
  if (is_broken_) {
    throw std::runtime_error(
        "an operation that was under way has ended half-way; see what it said");
  }
  if (std::exchange(is_settling_, true)) return;
  // NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): never leaves settle().
  struct Settling {
    Traffic& of;
    bool is_through = false;
    ~Settling() {
      of.is_settling_ = false;
      of.is_broken_ = !is_through;
    }
  } settling{*this};
  while (!to_self_.empty() || !ready_.empty()) {
    if (!to_self_.empty()) {
      const Output output = std::move(to_self_.front());
      to_self_.pop_front();
      on_message(self_, output.tag, output.payload);
      continue;
    }
    const Ref<Schedule> schedule = std::move(ready_.front());
    ready_.pop_front();
    if (!schedule->advance(*this)) continue;
    running_.erase(schedule.get());
    finish(*schedule);
  }
  settling.is_through = true;
}

}  // namespace phx::mpi
