#include "runtime/api/engine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/api/spare_memory.h"
#include "runtime/tcp/steady_now.h"
#include "runtime/wire/codec.h"

namespace phx {
namespace {

/// A wait that lasts longer than this is shown by `phoenix status`.
constexpr Duration kNoticeable = 1s;

/// What has come in is looked at this often, even by a program that always finds enough to do in
/// what came before; more often only when it waits. A look is a system call.
constexpr Duration kLookEvery = 1ms;
/// How soon a broadcast notices that those it waits for do not catch up, and a vnode that is wanted
/// elsewhere that the end of a message does not come.
constexpr Duration kLookAgain = 100ms;

/// How long the daemon may take to see that we have closed the connection.
constexpr Duration kFarewell = 2s;

/// Whoever waits may have something else to say when this has changed.
std::uint64_t news_of(const runtime::Endpoint& endpoint) {
  return endpoint.arrivals() + endpoint.targets().taken();
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What the program prints is seen at the end of each line, though it goes through a pipe. An
/// option of `phoenix run` keeps that off.
void show_lines_at_once() {
  if (environment("PHOENIX_LINE_BUFFER") != "0") std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

std::uint64_t number_of(const std::string& name) {
  const std::string text = environment(name.c_str());
  if (text.empty()) return 0;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (at != end || error != std::errc()) {
    throw Failure(ErrorCode::kBadInput, name + "=" + text + " is no number");
  }
  return number;
}

/// What this machine, or the group of processes that this one belongs to, has of memory.
std::uint64_t memory_bytes() {
  std::uint64_t bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t most = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> most) bytes = std::min(bytes, most);
  return bytes;
}

/// `wanted`, else what the environment says, else an eighth of the memory.
std::uint64_t share_of_memory(std::uint64_t wanted, const char* name) {
  if (wanted == 0) wanted = number_of(name);
  return wanted != 0 ? wanted : memory_bytes() / 8;
}

runtime::EndpointConfig endpoint_config(const Options& options) {
  runtime::EndpointConfig config;
  config.room = lend;
  config.outbox_bytes_max = share_of_memory(options.send_bytes_max, "PHOENIX_SEND_BYTES");
  config.inflows.inbox_bytes_max =
      share_of_memory(options.receive_bytes_max, "PHOENIX_RECEIVE_BYTES");
  config.inflows.inbox_bytes = std::min(config.inflows.inbox_bytes, config.inflows.inbox_bytes_max);
  return config;
}

}  // namespace

std::string spell(Duration duration) {
  if (duration % 1s == Duration::zero()) return std::to_string(duration / 1s) + " s";
  return std::to_string(duration / 1ms) + " ms";
}

Engine::Wait::Wait(Engine& of, const Patience& asked, SteadyTime now)
    : engine(of), patience(asked), begin(now) {
  // A deadline beyond the end of the clock is none.
  if (asked.timeout < std::chrono::hours(24 * 365 * 100)) deadline = begin + asked.timeout;
}

Engine::Engine(const Options& options) : options_(options), endpoint_(endpoint_config(options)) {
  const auto fill = [](std::string& option, const char* name) {
    if (option.empty()) option = environment(name);
  };
  fill(options_.socket, "PHOENIX_SOCKET");
  fill(options_.join, "PHOENIX_JOIN");
  fill(options_.key_file, "PHOENIX_KEY_FILE");
  fill(options_.listen, "PHOENIX_LISTEN");
  if (options_.vnodes == 0) options_.vnodes = number_of("PHOENIX_VNODES");
  if (options_.vnodes > wire::kVnodeIdEnd) {
    throw Failure(ErrorCode::kBadInput, std::to_string(options_.vnodes) + " vnodes: a job has " +
                                            std::to_string(wire::kVnodeIdEnd) + " at most");
  }
  if (options_.socket.empty()) {
    embed();
  } else {
    connect();
  }
  attach();
}

void Engine::connect() {
  auto link = local::LocalLink::connect(options_.socket);
  if (!link.ok()) throw Failure(link.error());
  link_ = std::move(link).value();
}

/// Starts the daemon inside this process.
void Engine::embed() {
  tcp::DriverOptions inside = tcp::EmbeddedDaemon::alone();
  if (options_.key_file.empty() && !(options_.join.empty() && options_.listen.empty())) {
    throw Failure(ErrorCode::kBadInput, "a mesh that is joined needs a key: set PHOENIX_KEY_FILE");
  }
  if (!options_.key_file.empty()) {
    inside.key = value_or_throw(tcp::read_key(options_.key_file));
    const std::string listen = options_.listen.empty() ? "127.0.0.1:0" : options_.listen;
    inside.listen = value_or_throw(tcp::parse_address(listen));
  }
  inside.lends_on_links = options_.shares_memory;
  inside.config.balance = options_.balance;
  inside.config.peer_timeout = options_.peer_timeout;
  if (!options_.join.empty()) inside.join = {options_.join};
  embedded_ = value_or_throw(tcp::EmbeddedDaemon::start(inside, {.level = "error", .file = ""}));
  link_ = local::LocalLink(*embedded_);
}

Engine::~Engine() = default;

void Engine::attach() {
  // A daemon inside has no job but the one of its mesh.
  const auto job = embedded_ ? 0 : static_cast<JobId::rep>(number_of("PHOENIX_JOB"));
  const auto process = static_cast<std::int64_t>(::getpid());
  // Who joins a mesh wants to take part in its job; who begins one has one vnode at least.
  const bool may_begin = options_.join.empty() || options_.vnodes > 0;
  const std::uint64_t vnodes = may_begin ? std::max<std::uint64_t>(options_.vnodes, 1) : 0;
  endpoint_.attach({JobId{job}, vnodes, process});
  const auto attached = await({options_.attach_timeout, [] { return std::string("attaching"); }},
                              [](Endpoint& endpoint) { return endpoint.attached(); });
  if (!attached) {
    throw Failure(ErrorCode::kTimeout,
                  "attaching to the daemon: no answer for " + spell(options_.attach_timeout));
  }
  if (!attached->refusal.empty()) {
    const std::string advice =
        may_begin ? "" : "; the job at " + options_.join + " is over, or has not begun";
    throw Failure(ErrorCode::kDenied,
                  "the daemon refuses this process: " + attached->refusal + advice);
  }
  processor_ = attached->processor;
  if (embedded_) return;
  show_lines_at_once();
  if (number_of("PHOENIX_REPORT") == 0) return;
  report_.emplace(std::chrono::steady_clock::now(),
                  std::chrono::duration_cast<std::chrono::microseconds>(
                      std::chrono::system_clock::now().time_since_epoch()));
}

/// Called with the mutex.
void Engine::tell_report(bool is_last) {
  if (!report_ || lost_) return;
  if (is_last) queue_outputs();
  const SteadyTime now = std::chrono::steady_clock::now();
  const std::string lines = is_last ? report_->finish(now) : report_->take(now);
  if (!lines.empty()) link_.queue(runtime::AppReport{Payload::copy_of(lines)});
  if (is_last) report_.reset();
}

void Engine::look(SteadyTime now) {
  if (now - looked_at_ >= kLookEvery) receive();
}

void Engine::queue_outputs() {
  std::vector<runtime::ToDaemon> outputs = endpoint_.take_outputs();
  if (outputs.empty()) return;
  for (runtime::ToDaemon& output : outputs) {
    if (report_) report_->on_sent(output);
    link_.queue(std::move(output));
  }
  endpoint_.give_back(std::move(outputs));
}

/// Everything out. Reads only if the daemon takes no more before it is read. Called with the mutex.
/// Whether something came in.
bool Engine::send() {
  if (lost_) return false;
  queue_outputs();
  if (link_.unsent() == 0 || (link_.flush().ok() && link_.unsent() == 0)) return false;
  return exchange();
}

/// Everything out and in that is possible now; everything out in any case. Called with the mutex.
/// Whether something came in.
bool Engine::exchange() {
  bool any = receive();
  while (!lost_ && link_.unsent() > 0) {
    const bool starving = link_.is_starving();
    link_.wait(!starving, starving ? local::LocalLink::kRetry : kNoticeable);
    any = receive() || any;
  }
  return any;
}

bool Engine::receive() {
  if (lost_) return false;
  looked_at_ = std::chrono::steady_clock::now();
  endpoint_.on_time(tcp::steady_now());
  queue_outputs();
  tell_report(/*is_last=*/false);
  if (waits_.is_due(looked_at_)) tell_waited(looked_at_);
  std::vector<runtime::ToApplication> received = room_.take();
  if (const Status status = link_.pump(received); !status.ok()) lost_ = status.error();
  for (runtime::ToApplication& message : received) endpoint_.on_message(std::move(message));
  const bool any = !received.empty() || lost_;
  room_.give_back(std::move(received));
  queue_outputs();
  if (!lost_ && link_.unsent() > 0 && !link_.flush().ok()) return receive() || any;
  if (!any) return false;
  wake_others();
  return true;
}

void Engine::wake_others() {
  if (!is_polled_) return;  // then nobody waits: who does when another has waited takes over
  came_in_.notify_all();
  if (!std::exchange(is_woken_, true)) link_.wake();
}

void Engine::wake() {
  const std::unique_lock lock(mutex_);
  wake_others();
}

/// Waits for something to come in. False: the time is up.
bool Engine::pause(std::unique_lock<std::mutex>& lock, Wait& wait) {
  check_alive();
  if (send()) return true;  // It may be what is waited for.
  SteadyTime now = std::chrono::steady_clock::now();
  if (wait.deadline && now >= *wait.deadline) {
    if (std::exchange(wait.has_looked, true)) return false;
    receive();
    return true;
  }
  // Again when something has come since: that may be another thing than what is waited for.
  const SteadyTime due = wait.reported_at.value_or(wait.begin) + kNoticeable;
  const auto is_news = [&] { return !wait.reported_at || wait.news != news_of(endpoint_); };
  if (is_news() && now >= due) {
    if (say(wait, now)) return true;
    now = std::chrono::steady_clock::now();
  }
  SteadyTime until = is_news() ? std::max(due, now) : now + kNoticeable * 60;
  if (wait.deadline) until = std::min(until, *wait.deadline);
  if (endpoint_.is_waiting()) until = std::min(until, now + kLookAgain);
  wait.has_slept = true;
  if (is_polled_) {
    came_in_.wait_until(lock, until);
    return true;
  }
  is_polled_ = true;
  lock.unlock();
  const bool is_ready = link_.wait(false, until - now);
  lock.lock();
  is_polled_ = is_woken_ = false;
  if (report_) report_->on_waited(std::chrono::steady_clock::now() - now);
  if (is_ready || endpoint_.is_waiting()) receive();  // Time alone may have consequences.
  wait.has_looked = true;
  came_in_.notify_all();  // another one may have to take over the socket
  return true;
}

/// Tells the daemon what we wait for, if it knows something else. Whether something came in.
bool Engine::say(Wait& wait, SteadyTime now) {
  wait.reported_at = now;
  wait.news = news_of(endpoint_);
  std::string what = wait.patience.what();
  const std::string lacking = endpoint_.targets().lacking();
  if (!lacking.empty()) what += " (" + lacking + ")";
  if (what == wait.reported) return false;
  wait.reported = what;
  endpoint_.acknowledge();
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(now - wait.begin);
  endpoint_.waiting(
      {std::move(what), wait.patience.at, static_cast<std::uint64_t>(waited.count())});
  return exchange();
}

void Engine::end(Wait& wait) {
  send();
  if (!wait.has_slept) return look(wait.begin);  // Who has slept has looked.
  const SteadyTime now = std::chrono::steady_clock::now();
  waits_.add(wait.patience.at, now - wait.begin);
  if (report_ && wait.patience.at) report_->on_waited_at(*wait.patience.at, now - wait.begin);
  if (!wait.reported_at) return;
  wait.reported_at.reset();
  tell_waited(now);  // First, so that what the daemon shows does not fall.
  endpoint_.waiting({});
  exchange();
}

void Engine::tell_waited(SteadyTime now) {
  endpoint_.waited(waits_.take(now));
  queue_outputs();
}

/// Nothing has come: somebody else may have to run so that something can. A program that asks again
/// and again without waiting would take the processor of its daemon away for whole time slices.
void Engine::give_way(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  ::sched_yield();
}

void Engine::check_alive() const {
  if (endpoint_.ended()) {
    const std::string& reason = endpoint_.ended()->reason;
    throw Failure(ErrorCode::kAborted, reason.empty() ? "the job is over" : reason);
  }
  if (lost_) throw Failure(*lost_);
}

/// Waits until whatever was sent has been received. A limit would lose messages; `phoenix status`
/// says what this waits for.
void Engine::drain() {
  {
    const std::unique_lock lock(mutex_);
    if (lost_ || endpoint_.ended()) return;
    endpoint_.close();
  }
  const auto what = [this] { return "finish: " + endpoint_.unsettled(); };
  const auto is_over = [](const Endpoint& endpoint) -> std::optional<bool> {
    if (endpoint.is_settled() || endpoint.ended()) return true;
    return std::nullopt;
  };
  try {
    static_cast<void>(await({kForever, what}, is_over));
  } catch (const Failure&) {
    // The daemon is gone, or the job over: nobody will receive it.
  }
}

void Engine::report(const std::function<void(Report&)>& f) {
  const std::unique_lock lock(mutex_);
  if (report_) f(*report_);
}

void Engine::close(const std::function<void(Endpoint&)>& last_words) {
  const std::unique_lock lock(mutex_);
  tell_report(/*is_last=*/true);
  last_words(endpoint_);
  exchange();
  link_.finish(kFarewell);
  if (!lost_) lost_ = Error{ErrorCode::kUnavailable, "the session is finished"};
  came_in_.notify_all();
}

void Engine::leave(Duration patience) {
  if (embedded_) embedded_->leave(patience);
}

}  // namespace phx
