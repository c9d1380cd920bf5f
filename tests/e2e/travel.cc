/// An application for the tests of this folder: tokens hop from vnode to vnode while vnodes move.
/// Every message is counted and numbered, so one that is lost, doubled or out of order shows.
///   travel run|next HOPS   every vnode's token makes so many hops; a handler, or a loop
///   travel take            two processes, of which one hands its vnode over to the other by hand
///   travel say FILE        writes a line, and waits until the file is there
///   travel roots FILE      each broadcasts from its own first vnode; who holds v0 ends and makes
///   the
///                          file before the others do
///   travel lag FILE        each writes a line; who holds v0 waits until the file is there, the
///                          others for it
///   travel odds            who holds v0 is in a barrier, the others in a broadcast: for ever
///   travel leave           who holds v0 ends well, while the others wait for it
///   travel abort           ends the job with code 5
///   travel vanish          who holds v0 ends with 0 by an exception; the others wait for it
///   travel pass|meet STEPS in step: who holds the last vnode hands it over to who holds the first
///                          one; without and with a barrier in each step
///   travel round STEPS     in step: each vnode in turn is handed over to who holds the next one
#include <phoenix.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

enum : phx::Tag { kToken, kHome, kCount, kEnd };

/// What a message carries.
struct Token {
  std::uint64_t number = 0;  ///< Of the messages of this sender to this receiver.
  std::uint64_t value = 0;   ///< Hops left; of kCount: tokens that passed.
};

/// What belongs to one vnode.
struct Stop {
  std::map<phx::Vnode, std::uint64_t> sent;
  std::map<phx::Vnode, std::uint64_t> received;
  std::uint64_t passed = 0;
  std::uint64_t home = 0;     ///< At v0: tokens that are done.
  std::uint64_t counts = 0;   ///< At v0: answers.
  std::uint64_t counted = 0;  ///< At v0: their sum.
  bool has_begun = false;
  void state(auto& io) { io(sent, received, passed, home, counts, counted, has_begun); }
};

class Travel {
 public:
  Travel(phx::Session& job, std::uint64_t hops) : job_(job), hops_(hops), stops_(job) {}

  /// False: the end.
  bool handle(const phx::Message& message) {
    const phx::Vnode at = message.to;
    Stop& stop = stops_[at];
    if (message.kind == phx::Kind::kBroadcast) {
      if (message.tag == kEnd) return false;
      if (message.tag == kCount) send(at, 0, kCount, stop.passed);
      if (message.tag == kToken) send(at, next_of(at, hops_), kToken, hops_);
      return true;
    }
    const auto token = message.as<Token>();
    if (token.number != stop.received[message.from]++) {
      throw std::runtime_error("a message is lost, doubled, or out of order");
    }
    if (message.tag == kToken) pass_on(at, stop, token.value);
    if (message.tag == kHome && ++stop.home == job_.vnodes()) job_.cast(at, 0, kCount);
    if (message.tag == kCount) count(at, stop, token.value);
    return true;
  }
  /// Whoever holds v0 first starts all tokens.
  void begin() {
    if (!stops_.contains(0) || std::exchange(stops_[0].has_begun, true)) return;
    job_.cast(0, 0, kToken);
  }

 private:
  phx::Vnode next_of(phx::Vnode at, std::uint64_t hop) const {
    return (at * 7 + hop) % job_.vnodes();
  }
  void send(phx::Vnode from, phx::Vnode to, phx::Tag tag, std::uint64_t value) {
    job_.send(from, to, Token{stops_[from].sent[to]++, value}, tag);
  }
  void pass_on(phx::Vnode at, Stop& stop, std::uint64_t left) {
    ++stop.passed;
    if (left == 1) {
      send(at, 0, kHome, 0);
    } else {
      send(at, next_of(at, left - 1), kToken, left - 1);
    }
  }
  void count(phx::Vnode at, Stop& stop, std::uint64_t passed) {
    stop.counted += passed;
    if (++stop.counts < job_.vnodes()) return;
    const bool is_right = stop.counted == job_.vnodes() * hops_;
    std::printf("travel: %llu hops: %s\n", static_cast<unsigned long long>(stop.counted),
                is_right ? "every one counted" : "WRONG");
    std::fflush(stdout);
    if (!is_right) job_.abort(1, "hops are lost or doubled");
    if (is_right) job_.cast(at, 0, kEnd);
  }

  phx::Session& job_;
  std::uint64_t hops_;
  phx::Objects<Stop> stops_;
};

void run(phx::Session& job, std::uint64_t hops) {
  Travel travel(job, hops);
  if (!job.local_safe_point()) return;
  travel.begin();
  job.run([&](const phx::Message& message) {
    if (!travel.handle(message)) job.stop();
  });
}

void next(phx::Session& job, std::uint64_t hops) {
  Travel travel(job, hops);
  while (!job.over()) {
    while (const auto message = job.next(phx::Duration::zero())) {
      if (!travel.handle(*message)) return;
    }
    travel.begin();
  }
}

void take(phx::Session& job) {
  phx::Objects<std::string> objects(job, [](phx::Vnode v) { return "from v" + std::to_string(v); });
  if (!job.local_safe_point()) return;
  if (job.holds(0)) {
    objects[0] += ", handed over";
    job.send(0, 1, 0);
    job.release({0});
    if (!job.local_safe_point()) return;  // holds nothing: until the job is over
    throw std::runtime_error("got a vnode that it had not asked for");
  }
  static_cast<void>(job.recv({.at = 1}));  // else it could be taken before it was ever held
  int refusals = 0;
  while (!job.holds(0)) {
    job.assume({0});
    try {
      if (!job.local_safe_point()) throw std::runtime_error("retired");
    } catch (const phx::Failure& refusal) {
      if (refusal.code() != phx::ErrorCode::kDenied) throw;
      ++refusals;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("travel: %s, after %s refusals\n", objects[0].c_str(), refusals == 0 ? "no" : "some");
}

/// What is refused is asked for again, as runtime/api/README.md has it.
bool safe_point(phx::Session& job) {
  while (true) {
    try {
      return job.safe_point();
    } catch (const phx::Failure& refusal) {
      if (refusal.code() != phx::ErrorCode::kDenied) throw;
      job.assume(refusal.vnodes());
    }
  }
}

/// Without a barrier of the program's own processes may be steps apart.
void pass(phx::Session& job, std::uint64_t steps, bool has_barrier) {
  constexpr std::uint64_t kHandOver = 5;
  const phx::Vnode last = job.vnodes() - 1;
  phx::Objects<std::uint64_t> passed(job);
  while (safe_point(job)) {
    for (auto& [v, step] : passed) ++step;
    const std::uint64_t step = passed.begin()->second;
    const bool gives = job.holds(last) && !job.holds(0);
    if (step == kHandOver && gives) job.release({last});
    if (step == kHandOver && job.holds(0)) job.assume({last});
    if (has_barrier) job.barrier();
    if (step < steps) continue;
    const bool is_handed_over = job.holds(0) && job.holds(last);
    if (job.holds(0)) std::printf("travel: %s\n", is_handed_over ? "handed over" : "NOT THERE");
    return;
  }
}

void round(phx::Session& job, std::uint64_t steps) {
  constexpr std::uint64_t kHandOver = 10;
  phx::Objects<std::uint64_t> passed(job);
  while (safe_point(job)) {
    const auto before = job.allreduce(phx::min, [&](phx::Vnode v) { return passed[v]; });
    for (auto& [v, step] : passed) {
      if (step++ != before) throw std::runtime_error("vnodes are at different steps");
    }
    const phx::Vnode given = before / kHandOver % job.vnodes();
    const phx::Vnode next = (given + 1) % job.vnodes();
    if (before % kHandOver == 0 && job.holds(given) != job.holds(next)) {
      job.holds(given) ? job.release({given}) : job.assume({given});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (before + 1 < steps) continue;
    if (job.holds(0)) std::printf("travel: handed round\n");
    return;
  }
}

struct Vanished {};

void vanish(phx::Session& job) {
  if (!job.safe_point()) return;
  if (job.holds(0)) throw Vanished{};
  job.barrier();
}

void wait_for(const char* file) {
  while (!std::filesystem::exists(file)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void say(const char* file) {
  std::printf("begun\n");
  wait_for(file);
}

void odds(phx::Session& job) {
  if (!job.safe_point()) return;
  if (job.holds(0)) return job.barrier();
  static_cast<void>(job.broadcast(0, [] { return 1; }));
}

void roots(phx::Session& job, const char* file) {
  if (!job.safe_point()) return;
  static_cast<void>(job.broadcast(job.held().front(), [] { return 1; }));
  while (!job.holds(0) && !std::filesystem::exists(file)) {
    static_cast<void>(job.try_recv());  // What comes is read in calls.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!job.holds(0)) return;
  job.finish();  // All have what was sent.
  std::fclose(std::fopen(file, "w"));
}

void lag(phx::Session& job, const char* file) {
  if (!job.safe_point()) return;
  std::printf("begun\n");
  std::fflush(stdout);
  job.send(job.held().front(), 0, std::uint64_t{7});
  const phx::Vnode last = job.vnodes() - 1;
  if (job.holds(0)) {
    wait_for(file);
    job.send(0, last, std::uint64_t{7});
  }
  if (job.holds(last)) static_cast<void>(job.recv({.at = last}));
  job.barrier();
}

void leave(phx::Session& job) {
  if (!job.safe_point()) return;
  if (!job.holds(0)) job.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::uint64_t hops = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  try {
    phx::Session job;
    if (mode == "run") run(job, hops);
    if (mode == "next") next(job, hops);
    if (mode == "take") take(job);
    if (mode == "say") say(argc > 2 ? argv[2] : "/");
    if (mode == "odds") odds(job);
    if (mode == "roots") roots(job, argc > 2 ? argv[2] : "/");
    if (mode == "lag") lag(job, argc > 2 ? argv[2] : "/");
    if (mode == "leave") leave(job);
    if (mode == "abort") job.abort(5, "no more paper");
    if (mode == "vanish") vanish(job);
    if (mode == "round") round(job, hops);
    if (mode == "pass" || mode == "meet") pass(job, hops, mode == "meet");
    return 0;
  } catch (const Vanished&) {
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "travel: %s\n", error.what());
    return 1;
  }
}
