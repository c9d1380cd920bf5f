#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "apps/bench/plain_tcp.h"
#include "apps/bench/workloads.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr int kRounds = 9;  ///< Of each kind in turn; the best counts, for the rest is noise.
constexpr int kTrips = 200;
constexpr int kBulkRounds = 5;
constexpr std::size_t kBulkBytes = std::size_t{64} << 20U;
constexpr int kMessages = 20000;
constexpr std::size_t kMessageBytes = 64;
constexpr phx::Tag kPort = 1;
constexpr phx::Tag kForth = 2;
constexpr phx::Tag kBack = 3;

/// The two ways from one process to the other. Vnode 0 begins, vnode 1 answers.
class Ways {
 public:
  Ways(phx::Session& job, phx::Vnode self) : job_(job), self_(self), other_(1 - self) {
    if (self_ == 0) {
      tcp_.connect(job_.recv<std::uint16_t>({.at = 0, .tag = kPort}));
    } else {
      job_.send(1, 0, tcp_.listen(), kPort);
      tcp_.accept();
    }
  }

  /// `count` messages of `bytes` from 0 to 1, each answered with one byte if `answered`, else all
  /// together. Returns the seconds it took.
  double tcp(int count, const phx::Payload& bytes, bool answered) {
    buffer_.resize(bytes.size());
    std::array<std::byte, 1> answer{};
    return timed(
        count, answered,
        [&] { self_ == 0 ? tcp_.write(bytes.bytes()) : tcp_.read(std::span(buffer_)); },
        [&] { self_ == 0 ? tcp_.read(answer) : tcp_.write(answer); });
  }
  double phoenix(int count, const phx::Payload& bytes, bool answered) {
    return timed(
        count, answered, [&] { pass(0, bytes, kForth); },
        [&] { pass(1, phx::encode(std::byte{}), kBack); });
  }

 private:
  void pass(phx::Vnode from, const phx::Payload& bytes, phx::Tag tag) {
    if (self_ == from) {
      job_.send_bytes(self_, other_, bytes, tag);
    } else if (job_.recv({.at = self_, .tag = tag}).payload.size() != bytes.size()) {
      throw std::runtime_error("WRONG RESULT: a message of another size");
    }
  }
  template <class Forth, class Back>
  double timed(int count, bool answered, Forth forth, Back back) {
    const double begin = clock_s();
    for (int i = 0; i < count; ++i) {
      forth();
      if (answered) back();
    }
    if (!answered) back();
    return clock_s() - begin;
  }

  phx::Session& job_;
  phx::Vnode self_;
  phx::Vnode other_;
  PlainTcp tcp_;
  std::vector<std::byte> buffer_;
};

/// As BenchMesh does with daemons: this process stands for a processor, on one of the CPUs that it
/// may use.
void bind_to_cpu(int index) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  bool is_bound = false;
  if (::sched_getaffinity(0, sizeof(usable), &usable) == 0) {
    int left = index % CPU_COUNT(&usable);
    std::size_t cpu = 0;
    while (!CPU_ISSET(cpu, &usable) || left-- > 0) ++cpu;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    is_bound = ::sched_setaffinity(0, sizeof(set), &set) == 0;
  }
  if (!is_bound) std::fprintf(stderr, "phoenix-bench: not bound to a CPU: figures vary more\n");
}

phx::Payload bytes_of(std::size_t size) {
  return phx::encode(phx::Bytes(size, std::byte{42}));
}

struct Best {
  double tcp = 1e9;
  double phoenix = 1e9;
};

Best measure(Ways& ways, int rounds, int count, std::size_t size, bool answered) {
  const phx::Payload bytes = bytes_of(size);
  Best best;
  for (int round = 0; round < rounds; ++round) {
    best.tcp = std::min(best.tcp, ways.tcp(count, bytes, answered));
    best.phoenix = std::min(best.phoenix, ways.phoenix(count, bytes, answered));
  }
  return best;
}

void say_all(Ways& ways, phx::Vnode self) {
  const Best trip = measure(ways, kRounds, kTrips, 1, true);
  const Best bulk = measure(ways, kBulkRounds, 1, kBulkBytes, false);
  const Best many = measure(ways, kBulkRounds, kMessages, kMessageBytes, false);
  if (self != 0) return;
  say("trip", trip.phoenix / kTrips / 2);
  say("trip-tcp", trip.tcp / kTrips / 2);
  say("bulk", static_cast<double>(kBulkBytes) / bulk.phoenix);
  say("bulk-tcp", static_cast<double>(kBulkBytes) / bulk.tcp);
  say("rate", kMessages / many.phoenix);
  say("rate-tcp", kMessages / many.tcp);
}

}  // namespace

void pair(phx::Session& job) {
  // A daemon inside holds both vnodes until the other has joined.
  while (job.safe_point() && job.held().size() != 1) std::this_thread::sleep_for(2ms);
  const phx::Vnode self = job.held().at(0);
  Ways ways(job, self);
  say_all(ways, self);
}

void run_inside(const std::function<void(phx::Session&)>& program) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t other = ::fork();  // before there are threads
  if (other < 0) throw std::runtime_error("no second process");
  bind_to_cpu(other == 0 ? 1 : 0);
  phx::Options options;
  if (other == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::close(pipe[1]);
    std::array<char, 256> text{};
    const ssize_t size = ::read(pipe[0], text.data(), text.size());
    if (size <= 0) ::_exit(1);
    options.join.assign(text.data(), static_cast<std::size_t>(size));
    phx::Session job(options);
    program(job);
    return;
  }
  options.vnodes = 2;
  phx::Session job(options);
  const std::string endpoint = job.endpoints().at(0);
  const ssize_t written = ::write(pipe[1], endpoint.data(), endpoint.size());
  ::close(pipe[1]);
  if (written <= 0) throw std::runtime_error("the other process cannot be told where to join");
  while (job.safe_point() && job.held().size() != 1) {
    if (::waitpid(other, nullptr, WNOHANG) != 0)
      throw std::runtime_error("the other one has ended");
    std::this_thread::sleep_for(2ms);
  }
  program(job);
  job.finish();
  ::waitpid(other, nullptr, 0);
}

}  // namespace bench
