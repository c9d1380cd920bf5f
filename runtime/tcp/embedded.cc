#include "runtime/tcp/embedded.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/tcp/blocked_signals.h"
#include "runtime/tcp/handshake.h"
#include "runtime/tcp/inside.h"
#include "runtime/tcp/loop.h"
#include "runtime/tcp/steady_now.h"

namespace phx::tcp {
namespace {

/// So long one of several threads that wait sleeps at most.
constexpr Duration kShared = 10ms;

}  // namespace

/// `mutex` is around everything but waiting.
struct EmbeddedDaemon::State {
  explicit State(std::unique_ptr<TcpDriver> started) : driver(std::move(started)) {}

  using Lock = std::unique_lock<std::mutex>;
  void serve_once(Lock& lock, Duration at_most, std::size_t waiters = 0);
  void help();
  [[nodiscard]] bool has_news() const {
    return !driver->inside().waiting.empty() || !driver->inside().is_open;
  }

  std::unique_ptr<TcpDriver> driver;
  mutable std::mutex mutex;
  std::size_t waiting = 0;  ///< Threads of the application in wait().
  std::uint64_t turns = 0;  ///< How often one has served.
  bool is_woken = false;    ///< By wake().
  bool is_leaving = false;
  bool has_ended = false;   ///< The helper.
  bool is_parked = false;   ///< The helper sleeps until it is called.
  bool is_looking = false;  ///< The helper will look soon, so what is left is not forgotten.
  std::condition_variable call_helper;
  std::condition_variable is_over;
  std::thread helper;  ///< Joined once the daemon has left.
};

/// Waits without the mutex. `waiters` of those in wait() have called this. The others sleep at the
/// same loop: what was to wake them may have been taken from it here, so it is said again.
void EmbeddedDaemon::State::serve_once(Lock& lock, Duration at_most, std::size_t waiters) {
  Loop& loop = driver->loop();
  driver->flush();
  const Duration patience = loop.patience(at_most);
  lock.unlock();
  const Loop::Events events = loop.wait(patience);
  lock.lock();
  loop.serve(events);
  if (waiting > waiters && (is_woken || has_news())) loop.wake();
}

/// The helper's life. While the application serves again and again, looking at it now and then is
/// all it does: to be called with every message would cost a system call and a change of threads.
void EmbeddedDaemon::State::help() {
  Lock lock(mutex);
  std::uint64_t seen = ~std::uint64_t{0};
  Loop& loop = driver->loop();
  while (!loop.is_stopped()) {
    if (waiting == 0 && (turns == seen || is_leaving)) {
      serve_once(lock, kForever);
      continue;
    }
    is_parked = waiting > 0 && turns == seen && !is_leaving;
    seen = turns;
    if (is_parked) {
      call_helper.wait(lock, [this] { return waiting == 0 || is_leaving; });
      is_parked = false;
    } else {
      is_looking = true;
      call_helper.wait_for(lock, kTurn);
      is_looking = false;
      driver->flush();
    }
  }
  has_ended = true;
  is_over.notify_all();
}

Result<std::unique_ptr<EmbeddedDaemon>> EmbeddedDaemon::start(const DriverOptions& options,
                                                              const LogOptions& log) {
  Result<LogSink> sink = LogSink::open(log);
  if (!sink.ok()) return sink.error();
  auto driver = TcpDriver::start(options, std::move(sink).value());
  if (!driver.ok()) return driver.error();
  auto state = std::make_unique<State>(std::move(driver).value());
  state->driver->loop().touch();
  const BlockedSignals blocked;  // they are the application's: its own threads must get them
  state->helper = std::thread([state = state.get()] { state->help(); });
  return std::unique_ptr<EmbeddedDaemon>(new EmbeddedDaemon(std::move(state)));
}

DriverOptions EmbeddedDaemon::alone() {
  DriverOptions options;
  options.key = fresh_nonce();
  options.listen.reset();
  options.config.embedded = true;
  return options;
}

EmbeddedDaemon::EmbeddedDaemon(std::unique_ptr<State> state) : state_(std::move(state)) {}

EmbeddedDaemon::~EmbeddedDaemon() {
  leave(2s);
}

bool EmbeddedDaemon::send(std::span<runtime::ToDaemon> messages) {
  const State::Lock lock(state_->mutex);
  state_->driver->on_inside(messages, state_->is_looking);
  return state_->driver->inside().is_held_up;
}

bool EmbeddedDaemon::receive(std::vector<runtime::ToApplication>& received) {
  State::Lock lock(state_->mutex);
  if (!state_->has_news()) {
    ++state_->turns;
    state_->serve_once(lock, Duration::zero());
  }
  auto& arrived = state_->driver->inside().waiting;
  if (arrived.empty()) return state_->driver->inside().is_open;
  if (received.empty()) {
    received.swap(arrived);
    return true;
  }
  received.insert(received.end(), std::move_iterator(arrived.begin()),
                  std::move_iterator(arrived.end()));
  arrived.clear();
  return true;
}

bool EmbeddedDaemon::is_congested() const {
  const State::Lock lock(state_->mutex);
  return state_->driver->inside().is_held_up;
}

bool EmbeddedDaemon::wait(Duration at_most, bool for_room) {
  State::Lock lock(state_->mutex);
  State& state = *state_;
  const auto is_enough = [&] {
    if (state.has_news()) return true;
    return for_room ? !state.driver->inside().is_held_up : state.is_woken;
  };
  const Instant begin = steady_now();
  const Instant until = at_most > Instant::max() - begin ? Instant::max() : begin + at_most;
  ++state.waiting;
  for (Instant now = begin; !is_enough() && now < until;) {
    // What another thread serves does not wake this one.
    const Duration longest = state.waiting > 1 ? kShared : kForever;
    ++state.turns;
    state.serve_once(lock, std::min(until - now, longest), /*waiters=*/1);
    if (!is_enough()) now = steady_now();
  }
  --state.waiting;
  if (!for_room) state.is_woken = false;
  if (state.is_parked) state.call_helper.notify_one();
  return state.has_news();
}

void EmbeddedDaemon::wake() {
  const State::Lock lock(state_->mutex);
  state_->is_woken = true;
  state_->driver->loop().wake();
}

void EmbeddedDaemon::detach() {
  const State::Lock lock(state_->mutex);
  state_->driver->on_inside_gone();
}

void EmbeddedDaemon::leave(Duration patience) {
  if (!state_->helper.joinable()) return;
  {
    State::Lock lock(state_->mutex);
    state_->is_leaving = true;
    state_->driver->drain();
    state_->call_helper.notify_one();
    const auto is_stopped = [this] { return state_->driver->loop().is_stopped(); };
    if (!state_->is_over.wait_for(lock, patience, is_stopped)) state_->driver->halt();
    // One wakes up at a time, of those who sleep at the loop.
    while (!state_->has_ended || state_->waiting > 0) {
      state_->driver->loop().wake();
      state_->is_over.wait_for(lock, kTurn);
    }
  }
  state_->helper.join();
}

ProcessorId EmbeddedDaemon::self() const {
  return state_->driver->self();
}

const std::vector<std::string>& EmbeddedDaemon::endpoints() const {
  return state_->driver->endpoints();
}

}  // namespace phx::tcp
