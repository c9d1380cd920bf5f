#include "runtime/mpi/engine/process.h"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "runtime/mpi/engine/group_trees.h"
#include "runtime/mpi/engine/polls.h"

namespace phx::mpi {
namespace {

/// The tag of a message of a process to itself, which only ends waits.
constexpr std::uint32_t kWakeTag = kLastTag + 1;

/// How often a near rank looks before it gives way, if each has a core; and before it sleeps.
constexpr int kSpins = 50, kYields = 40;
constexpr Duration kSleepMax = std::chrono::milliseconds(100);
constexpr int kSilentLong = 10;  ///< Sleeps; then it is told what is waited for.

Instant steady_now() {
  return Instant(std::chrono::steady_clock::now().time_since_epoch());
}

Polls& polls_of_thread() {
  thread_local Polls polls;
  return polls;
}

Process*& running() {
  static Process* process = nullptr;
  return process;
}

VnodeId vnode(int rank) {
  return VnodeId{static_cast<std::uint64_t>(rank)};
}

}  // namespace

Process::Process(Started started)
    : core_(std::move(started.core)),
      rank_(started.rank),
      size_(started.size),
      is_spread_(started.is_spread),
      traffic_(rank_) {
  traffic_.expect_senders(size_);
  const int memory = launched().near;
  const bool is_alone = size_ == 1 && core_->engine.has_daemon_inside();
  if (!is_alone && (memory < 0 || size_ < 2 || size_ > Nearby::kMost)) return;
  near_ = is_alone ? Nearby::alone() : Nearby::open(memory, rank_, size_);
  if (near_ == nullptr) {
    throw phx::Failure(ErrorCode::kUnavailable, "the memory shared by all ranks cannot be mapped");
  }
  if (size_ <= ::sysconf(_SC_NPROCESSORS_ONLN)) spins_ = kSpins;
  if (!is_alone) traffic_.use(near_->ways());
}

Process& Process::current() {
  return *running();
}

void Process::begin() {
  Started started = start();
  if (const char* const words = std::getenv("PHOENIX_NETWORK"); words != nullptr) {
    JobNetwork::of_process().learn(words);
  }
  tell_launcher("begun " + std::to_string(::getpid()));  // it may be a child of what was started
  running() = new Process(std::move(started));
}

void Process::end() {
  SessionCore& core = *running()->core_;
  core.is_finished = true;
  core.engine.drain();
  core.engine.close([](runtime::Endpoint& endpoint) { endpoint.finish(); });
  // Who went at once would be missed by those that have not heard of the end yet.
  if (tell_launcher("ended")) static_cast<void>(hear_launcher());
  core.engine.leave(Duration::zero());
}

void Process::abort(int code, const std::string& text) {
  const int shown = (code & 255) == 0 ? 1 : code & 255;  // what a process can say; never success
  std::fflush(nullptr);
  bool is_told = tell_launcher("abort " + std::to_string(shown) + " " + text);
  if (!is_told && running() != nullptr && !InFunction::here()) {
    Engine& engine = running()->core_->engine;
    try {
      engine.close([&](runtime::Endpoint& endpoint) { endpoint.abort(shown, text); });
      is_told = !engine.has_daemon_inside();  // The tool that follows the job says it.
    } catch (const phx::Failure&) {
      // The job is over already.
    }
  }
  if (!is_told) std::fprintf(stderr, "%s\n", text.c_str());
  ::_exit(shown);
}

void Process::end_badly(std::string why) {
  constexpr std::string_view kLost = "and with it v";  // Rank 2 is the process of v2.
  if (const std::size_t at = why.find(kLost); at != std::string::npos) {
    why.replace(at, kLost.size(), "and with it rank ");
  }
  std::fflush(nullptr);
  std::fprintf(stderr, "phoenix: rank %d: %s\n", running() == nullptr ? -1 : running()->rank_,
               why.c_str());
  ::_exit(1);
}

/// What has come in goes to its receives, and what that leads to leaves. Whether there was
/// anything.
bool Process::receive(runtime::Endpoint& endpoint) {
  bool any = false;
  while (auto taken = endpoint.take({})) {
    const runtime::Message& message = taken->second;
    if (message.tag == kWakeTag) continue;
    any = true;
    // The root of a broadcast holds a vnode of the job, too.
    const bool is_own = static_cast<int>(message.from.value) == rank_;
    using Is = runtime::Message::Kind;
    if (is_own && message.kind == Is::kBroadcast) continue;
    if (message.kind == Is::kReduced || message.kind == Is::kAllreduced) {
      const bool is_for_all = message.kind == Is::kAllreduced;
      traffic_.on_result({static_cast<int>(message.from.value), is_for_all}, message.payload);
      continue;
    }
    traffic_.on_message(static_cast<int>(message.from.value), message.tag, message.payload);
  }
  send(endpoint, false);
  return any;
}

bool Process::send(runtime::Endpoint& endpoint, const Traffic::Output& output) const {
  const VnodeId self = vnode(rank_);
  if (output.combined) {
    const runtime::ContributionPart part{*output.combined, output.payload};
    return endpoint.contribute(self, vnode(output.to), part).ok();
  }
  if (output.to == Traffic::kAll) {
    return endpoint.broadcast(self, output.tag, output.payload).ok();
  }
  return endpoint.send(self, vnode(output.to), output.tag, output.payload).ok();
}

void Process::wait_near(const std::function<bool(Traffic&)>& is_true, const LongWait::What& what) {
  const Waiting waiting(*this);
  LongWait told(what);
  int silent = 0;  // sleeps, one after the other, in which nothing came
  for (int idle = 0;; ++idle) {
    const std::uint64_t news = near_->news();
    bool any = false;
    const bool is_over = core_->engine.query([&](const runtime::Endpoint&) {
      any = receive_near();
      const bool is_over_now = is_true(traffic_);
      if (!is_over_now && !any && silent == kSilentLong) static_cast<void>(told.tell());
      return is_over_now;
    });
    if (is_over) return;
    if (any) {
      idle = silent = 0;
      told.go_on();
    }
    if (idle < spins_) continue;
    if (idle < spins_ + kYields) {
      give_way();
    } else if (!near_->sleep(news, kSleepMax)) {
      ++silent;
      check_alive();
    }
  }
}

bool Process::poll_near(const std::function<bool(Traffic&)>& is_true) {
  Polls& polls = polls_of_thread();
  const bool shares_cores = spins_ == 0;
  const bool needs_time = polls.needs_time(shares_cores);
  const bool has_to_give_way = needs_time && polls.on_look(steady_now(), shares_cores);
  const Waiting waiting(*this);
  const bool is_over = core_->engine.query([&](const runtime::Endpoint&) {
    receive_near();
    return is_true(traffic_);
  });
  if (is_over) return true;
  note_idle_look();
  if (has_to_give_way) {
    const Instant from = steady_now();
    ::sched_yield();
    polls.on_gave_way(from, steady_now());
  } else if (shares_cores) {
    polls.on_vain(steady_now());
  }
  return false;
}

bool Process::receive_near() {
  if (!near_->is_called()) return false;
  const std::uint64_t news = traffic_.news();
  const bool any = near_->receive([this](int from, std::uint32_t tag, const Payload& lent) {
    traffic_.on_message(from, tag, lent, /*is_lent=*/true);
  });
  send_near(waiting_ > 1 && traffic_.news() != news);
  return any;
}

void Process::send_near(bool others_wait) {
  others_wait |= finish_packed();  // by what made room
  for (traffic_.take_outputs(outputs_); !outputs_.empty(); traffic_.take_outputs(outputs_)) {
    for (const Traffic::Output& output : outputs_) {
      if (!output.packs) {
        near_->send(output.to, output.tag, output.payload);
        continue;
      }
      const auto size = static_cast<std::size_t>(output.bytes);
      const auto pack = [this, size, of = output.packs](std::size_t from,
                                                        std::span<std::byte> into) {
        const auto begin = static_cast<MPI_Count>(from);
        of->buffer.pack(begin, begin + static_cast<MPI_Count>(into.size()), into.data());
        if (from + into.size() == size) packed_.push_back(of);
      };
      near_->send(output.to, output.tag, Source{size, pack});
    }
    outputs_.clear();
    others_wait |= finish_packed();
  }
  if (others_wait) near_->wake();
}

/// Sends whose bytes have been packed are done; what that leads to is an output. Whether there were
/// any.
bool Process::finish_packed() {
  if (packed_.empty()) return false;
  const std::vector<Ref<SendRequest>> packed = std::exchange(packed_, {});
  for (const Ref<SendRequest>& send : packed) traffic_.on_packed(*send);
  return !packed.empty();
}

void Process::give_way() {
  note_idle_look();
  ::sched_yield();
}

void Process::note_idle_look() {
  constexpr unsigned kAsk = 1024;  // A program that polls never sleeps.
  if (++idle_looks_ % kAsk == 0) check_alive();
}

void Process::check_alive() {
  guarded([&] { core_->engine.call([](runtime::Endpoint&) {}); });
}

void Process::send(runtime::Endpoint& endpoint, bool others_may_wait) {
  const auto kept = [&](int to) {
    return static_cast<MPI_Count>(endpoint.outflows().kept_bytes(vnode(rank_), vnode(to)));
  };
  const auto on_packed = [this](SendRequest& of) { packed_.push_back(Ref<SendRequest>(&of)); };
  do {
    others_may_wait |= finish_packed();
    for (Traffic::Output& output : traffic_.take_outputs()) leaving_.add(std::move(output));
    leaving_.go_on([&](const Traffic::Output& output) { return send(endpoint, output); }, kept,
                   on_packed);
  } while (!packed_.empty());
  if (others_may_wait && waiting_ > 0) {
    static_cast<void>(endpoint.send(vnode(rank_), vnode(rank_), kWakeTag, Payload{}));
  }
}

}  // namespace phx::mpi
