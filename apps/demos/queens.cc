/// All ways to put N queens on a board of N x N so that none attacks another, counted by vnodes
/// that steal work from each other. Written as message handlers: nobody waits for anybody, so
/// vnodes move whenever they like.
#include <phoenix.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/demos/demo.h"

namespace {

using demos::say;
using namespace std::chrono_literals;
enum : phx::Tag { kAsk, kWork, kNone, kSolved, kEnd };

/// A board whose first rows are occupied: attacked columns and diagonals of the next row.
struct Board {
  std::uint32_t columns = 0;
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  std::uint32_t row = 0;

  /// The boards with one more queen.
  void expand(std::uint32_t size, auto take) const {
    const std::uint32_t all = (1U << size) - 1;
    for (std::uint32_t free = all & ~(columns | left | right); free != 0; free &= free - 1) {
      const std::uint32_t queen = free & (~free + 1);
      take(Board{columns | queen, ((left | queen) << 1U) & all, (right | queen) >> 1U, row + 1});
    }
  }
};

std::uint64_t solutions(const Board& board, std::uint32_t size) {
  if (board.row == size) return 1;
  std::uint64_t found = 0;
  board.expand(size, [&](const Board& next) { found += solutions(next, size); });
  return found;
}

/// Of a vnode: what it has solved since it last told vnode 0.
struct Solved {
  std::uint64_t tasks = 0;
  std::uint64_t solutions = 0;
  std::uint64_t stolen = 0;
};

/// What a vnode takes along when it moves.
struct Worker {
  std::vector<Board> tasks;
  Solved solved;
  std::uint64_t chance = 0;  ///< State of the choice of victims.
  bool is_asking = false;    ///< An answer is on its way.
  bool has_begun = false;
  // Of vnode 0 alone.
  std::uint64_t total = 0;
  Solved known;
  double told_s = 0;
  double begin_s = 0;
  void state(auto& io) {
    io(tasks, solved, chance, is_asking, has_begun, total, known, told_s, begin_s);
  }
};

class Queens {
 public:
  Queens(phx::Session& job, std::uint32_t size, std::uint32_t depth)
      : size_(size), depth_(depth), job_(job), workers_(job) {}

  /// The exit code of the program.
  int run() {
    while (true) {
      const bool has_work = work();
      if (!has_work) ask();
      auto message = job_.next(has_work ? 0ms : kPatience);
      if (!message && job_.over()) return 0;
      for (; message; message = job_.next(0ms)) {
        if (message->tag == kEnd) return 0;
        if (const auto code = handle(*message)) return *code;
      }
    }
  }

 private:
  /// Solves one task of each vnode. Whether there was any.
  bool work() {
    bool has_work = false;
    const auto now = std::chrono::steady_clock::now();
    const bool is_due = now - told_ >= kTell;
    if (is_due) told_ = now;
    for (auto& [v, worker] : workers_) {
      if (v == 0 && !worker.has_begun) begin(worker);
      if (worker.tasks.empty()) continue;
      has_work = true;
      const Board task = worker.tasks.back();
      worker.tasks.pop_back();
      worker.solved.solutions += solutions(task, size_);
      ++worker.solved.tasks;
      if (worker.tasks.empty() || is_due) tell(v, worker);
    }
    return has_work;
  }

  /// Vnode 0 has all the work at first: the boards with `depth_` queens.
  void begin(Worker& worker) {
    worker.tasks = {Board{}};
    for (std::uint32_t row = 0; row < depth_; ++row) {
      std::vector<Board> next;
      for (const Board& board : worker.tasks) {
        board.expand(size_, [&](const Board& one) { next.push_back(one); });
      }
      worker.tasks = std::move(next);
    }
    worker.total = worker.tasks.size();
    worker.has_begun = true;
    worker.begin_s = worker.told_s = demos::clock_s();
    say("queens: %u x %u, %llu tasks, %llu vnodes", size_, size_,
        static_cast<unsigned long long>(worker.total),
        static_cast<unsigned long long>(job_.vnodes()));
  }

  void tell(phx::Vnode v, Worker& worker) {
    job_.send(v, 0, std::exchange(worker.solved, {}), kSolved);
  }

  /// Every vnode asks another one. Called when this process has nothing to do; not too often,
  /// because near the end nobody has anything.
  void ask() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < kPatience) return;
    asked_ = now;
    for (auto& [v, worker] : workers_) {
      if (!worker.tasks.empty() || worker.is_asking || job_.vnodes() == 1) continue;
      worker.chance = demos::mix(worker.chance + v + 1);
      const phx::Vnode victim = (v + 1 + worker.chance % (job_.vnodes() - 1)) % job_.vnodes();
      worker.is_asking = true;
      job_.send(v, victim, std::uint8_t{0}, kAsk);
    }
  }

  std::optional<int> handle(const phx::Message& message) {
    Worker& worker = workers_[message.to];
    switch (message.tag) {
      case kAsk:
        give(worker, message.to, message.from);
        break;
      case kWork: {
        const auto tasks = message.as<std::vector<Board>>();
        worker.tasks.insert(worker.tasks.end(), tasks.begin(), tasks.end());
        worker.solved.stolen += tasks.size();
        worker.is_asking = false;
        break;
      }
      case kNone:
        worker.is_asking = false;
        break;
      default:
        return count(worker, message.as<Solved>());
    }
    return std::nullopt;
  }

  /// Gives away the older half, which was to be solved last.
  void give(Worker& worker, phx::Vnode from, phx::Vnode to) {
    const auto half = static_cast<std::ptrdiff_t>(worker.tasks.size() / 2);
    if (half == 0) {
      job_.send(from, to, std::uint8_t{0}, kNone);
      return;
    }
    const auto first = worker.tasks.begin();
    job_.send(from, to, std::vector<Board>(first, first + half), kWork);
    worker.tasks.erase(first, first + half);
  }

  /// At vnode 0: the sum is complete when all tasks are in it.
  std::optional<int> count(Worker& worker, const Solved& solved) {
    Solved& known = worker.known;
    known.tasks += solved.tasks;
    known.solutions += solved.solutions;
    known.stolen += solved.stolen;
    const double now_s = demos::clock_s();
    if (now_s - worker.told_s > 1) {
      worker.told_s = now_s;
      say("queens: %llu of %llu tasks, %llu solutions",
          static_cast<unsigned long long>(known.tasks),
          static_cast<unsigned long long>(worker.total),
          static_cast<unsigned long long>(known.solutions));
    }
    if (known.tasks < worker.total) return std::nullopt;
    return finish(known, worker.total, now_s - worker.begin_s);
  }

  int finish(const Solved& known, std::uint64_t total, double took_s) {
    // OEIS A000170.
    constexpr std::array<std::uint64_t, 19> kKnown = {
        1,   1,    0,     0,     2,      10,      4,        40,       92,       352,
        724, 2680, 14200, 73712, 365596, 2279184, 14772512, 95815104, 666090624};
    const std::uint64_t expected = kKnown.at(size_);
    if (known.tasks != total || known.solutions != expected) {
      demos::wrong(std::to_string(known.solutions) + " solutions from " +
                   std::to_string(known.tasks) + " of " + std::to_string(total) +
                   " tasks; there are " + std::to_string(expected));
    }
    say("queens: %llu solutions, as known; %llu tasks, moved %llu times, %s",
        static_cast<unsigned long long>(known.solutions),
        static_cast<unsigned long long>(known.tasks), static_cast<unsigned long long>(known.stolen),
        demos::spell_seconds(took_s).c_str());
    job_.cast(0, std::uint8_t{0}, kEnd);
    return 0;
  }

  static constexpr auto kPatience = 5ms;
  static constexpr auto kTell = 500ms;  ///< Vnode 0 hears at least so often what was solved.

  std::uint32_t size_;
  std::uint32_t depth_;
  std::chrono::steady_clock::time_point asked_;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
  phx::Session& job_;
  phx::Objects<Worker> workers_;
};

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t size = 15;
  std::uint32_t depth = 4;
  const phx::options::Program app(
      "Counts the solutions of the N queens problem; vnodes steal work from each other");
  app.add_option("--size", size, "N").check(phx::options::range(4, 18)).capture_default_str();
  app.add_option("--depth", depth, "Rows that are filled before the work is shared out")
      .check(phx::options::range(1, 8))
      .capture_default_str();
  if (const auto code = demos::read_options(app, "queens", argc, argv)) return *code;
  return demos::run(
      "queens", [&](phx::Session& job) { return Queens(job, size, std::min(depth, size)).run(); });
}
