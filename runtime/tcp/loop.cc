#include "runtime/tcp/loop.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <asio/detail/reactor.hpp>
#include <asio/steady_timer.hpp>
#include <cerrno>
#include <ctime>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/tcp/steady_now.h"

namespace phx::tcp {
namespace {

// Numbers of what is always watched; others follow.
constexpr Loop::Watch kAsio = 0;
constexpr Loop::Watch kWake = 1;

/// Of Asio, before others get their turn.
constexpr std::size_t kHandlersInARow = 16;

/// Asio tells nobody on which descriptor it waits. An explicit instantiation may name a private
/// member: this one gives a friend, which can be called, the pointer to it.
using Reactor = asio::detail::epoll_reactor;
int epoll_of(const Reactor& reactor);
template <int Reactor::*Member>
struct Reveal {
  friend int epoll_of(const Reactor& reactor) { return reactor.*Member; }
};
template struct Reveal<&Reactor::epoll_fd_>;

std::uint32_t events_of(Loop::Ready wanted) {
  return (wanted.readable ? std::uint32_t{EPOLLIN} : 0U) |
         (wanted.writable ? std::uint32_t{EPOLLOUT} : 0U) |
         (wanted.anew ? std::uint32_t{EPOLLET} : 0U);
}

}  // namespace

Loop::Loop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      last_(kWake) {
  PHX_CHECK(epoll_.is_open() && wake_.is_open());
  asio::steady_timer(io_, asio::steady_timer::time_point());  // whose making starts the reactor
  const auto& reactor = asio::use_service<asio::detail::reactor>(io_);
  for (const auto& [number, descriptor] :
       {std::pair(kAsio, epoll_of(reactor)), std::pair(kWake, wake_.get())}) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = number}};
    PHX_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0);
  }
}

Loop::~Loop() = default;

Loop::Watch Loop::watch(int descriptor, Ready wanted, OnReady on_ready) {
  const Watch watch = ++last_;
  Watched& watched = watched_[watch];
  watched = {descriptor, wanted, false, std::move(on_ready)};
  list(watch, watched);
  return watch;
}

void Loop::list(Watch watch, Watched& watched) {
  epoll_event event{.events = events_of(watched.wanted), .data = {.u64 = watch}};
  const int operation = std::exchange(watched.is_listed, true) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  PHX_CHECK(::epoll_ctl(epoll_.get(), operation, watched.descriptor, &event) == 0);
}

void Loop::unlist(Watched& watched) {
  if (!std::exchange(watched.is_listed, false)) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, watched.descriptor, nullptr);
}

void Loop::want(Watch watch, Ready wanted) {
  const auto found = watched_.find(watch);
  PHX_CHECK(found != watched_.end());
  const bool is_same = events_of(found->second.wanted) == events_of(wanted);
  found->second.wanted = wanted;
  if (!is_same) list(watch, found->second);
}

void Loop::unwatch(Watch watch) {
  const auto found = watched_.find(watch);
  if (found == watched_.end()) return;
  unlist(found->second);
  ended_.push_back(watched_.extract(found));  // it may be what is being called
}

void Loop::post_from_outside(std::function<void()> call) {
  {
    const std::scoped_lock lock(outside_mutex_);
    outside_.push_back(std::move(call));
  }
  wake();
}

void Loop::take_outside() {
  const std::scoped_lock lock(outside_mutex_);
  for (auto& call : std::exchange(outside_, {})) posted_.push_back(std::move(call));
}

void Loop::wake() const {
  ::eventfd_write(wake_.get(), 1);
}

void Loop::touch() {
  if (!std::exchange(is_touched_, true) && waiting_ > 0) wake();
}

void Loop::post(std::function<void()> call) {
  posted_.push_back(std::move(call));
  if (posted_.size() == 1 && waiting_ > 0) wake();
}

void Loop::set_deadline(Instant at, std::function<void()> call) {
  deadline_ = at;
  on_deadline_ = std::move(call);
  if (waiting_ > 0 && at < waiting_until_) wake();
}

Duration Loop::patience(Duration at_most) {
  if (waiting_++ == 0) waiting_until_ = {};
  if (is_touched_ || !posted_.empty() || at_most == Duration::zero()) return Duration::zero();
  const Instant now = steady_now();
  Instant until = at_most > Instant::max() - now ? Instant::max() : now + at_most;
  if (deadline_) until = std::min(until, *deadline_);
  waiting_until_ = std::max(waiting_until_, until);
  return std::max(until - now, Duration::zero());
}

Loop::Events Loop::wait(Duration at_most) const {
  Events events;
  constexpr auto kLongest = std::chrono::hours(1);
  const int count = wait_at_system(events.list_, std::min<Duration>(at_most, kLongest));
  events.count_ = static_cast<std::size_t>(std::max(count, 0));
  return events;
}

int Loop::wait_at_system(Events::List& list, Duration longest) const {
  if (!counts_ms_) {
    const int count = wait_exactly(list, longest);
    if (count >= 0 || errno == EINTR) return count;
    counts_ms_ = true;  // An older system has no such call; an older container refuses it (EPERM).
  }
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  const int count = ::epoll_wait(epoll_.get(), list.data(), Events::kMost, static_cast<int>(ms));
  PHX_CHECK(count >= 0 || errno == EINTR);
  return count;
}

int Loop::wait_exactly(Events::List& list, Duration longest) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec limit{.tv_sec = static_cast<std::time_t>(seconds.count()),
                       .tv_nsec = static_cast<long>(Duration(longest - seconds).count())};
  return ::epoll_pwait2(epoll_.get(), list.data(), Events::kMost, &limit, nullptr);
}

void Loop::serve(const Events& events) {
  --waiting_;
  ended_.clear();
  for (std::size_t i = 0; i < events.count_; ++i) serve(events.list_.at(i));
  if (deadline_ && steady_now() >= *deadline_) {
    deadline_.reset();
    std::exchange(on_deadline_, nullptr)();
  }
  serve_rest();
}

void Loop::serve(const epoll_event& event) {
  const Watch watch = event.data.u64;
  if (watch == kAsio) return touch();
  if (watch == kWake) {
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
    return take_outside();
  }
  const auto found = watched_.find(watch);
  if (found == watched_.end()) return;  // the one before has ended it
  Watched& watched = found->second;
  const bool is_broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
  const Ready ready{watched.wanted.readable && (is_broken || (event.events & EPOLLIN) != 0),
                    watched.wanted.writable && (is_broken || (event.events & EPOLLOUT) != 0)};
  if (ready.readable || ready.writable) {
    watched.on_ready(ready);
  } else if (is_broken) {
    unlist(watched);  // Nobody wants to know yet, and the system would say it again and again.
  }
}

/// What the calls have left to do. What that leaves has its turn after the descriptors.
void Loop::serve_rest() {
  if (std::exchange(is_touched_, false)) {
    std::size_t handlers = 0;
    while (handlers < kHandlersInARow && io_.poll_one() > 0) ++handlers;
    if (handlers == kHandlersInARow) touch();
  }
  if (posted_.empty()) return;
  for (const auto& call : std::exchange(posted_, {})) call();
}

void Loop::run() {
  while (!is_stopped_) run_one(kForever);
}

}  // namespace phx::tcp
