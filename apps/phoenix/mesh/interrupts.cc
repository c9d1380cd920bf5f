#include "apps/phoenix/mesh/interrupts.h"

#include <signal.h>

#include <atomic>

namespace phx::app {
namespace {

std::atomic<int> last_signal{0};
std::atomic<int> taken{0};

std::atomic<bool> first_user_signal{false}, second_user_signal{false};

void on_user_signal(int number) {
  (number == SIGUSR1 ? first_user_signal : second_user_signal) = true;
}

void set_user(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int number : {SIGUSR1, SIGUSR2}) ::sigaction(number, &action, nullptr);
}

void on_signal(int number) {
  last_signal = number;
  ++taken;
}

void set(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // Without SA_RESTART: a wait ends.
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    const bool is_nohup = number == SIGHUP && before.sa_handler == SIG_IGN;
    if (!is_nohup) ::sigaction(number, &action, nullptr);
  }
}

}  // namespace

Interrupts::Interrupts() {
  set(on_signal);
  ::signal(SIGPIPE, SIG_IGN);
}

Interrupts::~Interrupts() {
  set(SIG_DFL);
}

int Interrupts::take() {
  return last_signal.exchange(0);
}

int Interrupts::count() {
  return taken;
}

UserSignals::UserSignals() {
  set_user(on_user_signal);
}

UserSignals::~UserSignals() {
  set_user(SIG_DFL);
}

int UserSignals::take() {
  if (first_user_signal.exchange(false)) return SIGUSR1;
  return second_user_signal.exchange(false) ? SIGUSR2 : 0;
}

}  // namespace phx::app
