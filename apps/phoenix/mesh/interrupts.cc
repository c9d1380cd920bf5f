#include "apps/phoenix/mesh/interrupts.h"

#include <signal.h>

#include <atomic>
#include <initializer_list>

namespace phx::app {
namespace {

std::atomic<int> last_signal{0};
std::atomic<int> taken{0};
int alive = 0;  ///< Of Interrupts.

std::atomic<bool> first_user_signal{false}, second_user_signal{false};

void on_user_signal(int number) {
  (number == SIGUSR1 ? first_user_signal : second_user_signal) = true;
}

void on_signal(int number) {
  last_signal = number;
  ++taken;
}

/// SIGTERM is always taken: `phoenix down` ends by it who starts daemons.
void set(std::initializer_list<int> numbers, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // Without SA_RESTART: a wait ends.
  for (const int number : numbers) {
    if (number == SIGTERM || !is_ignored(number)) ::sigaction(number, &action, nullptr);
  }
}

constexpr std::initializer_list<int> kEnding = {SIGINT, SIGTERM, SIGHUP};
constexpr std::initializer_list<int> kPassedOn = {SIGUSR1, SIGUSR2};

}  // namespace

bool is_ignored(int signal) {
  struct sigaction present {};
  ::sigaction(signal, nullptr, &present);
  return present.sa_handler == SIG_IGN;
}

Interrupts::Interrupts() {
  if (alive++ > 0) return;
  set(kEnding, on_signal);
  ::signal(SIGPIPE, SIG_IGN);
}

Interrupts::~Interrupts() {
  if (--alive == 0) set(kEnding, SIG_DFL);
}

int Interrupts::take() {
  return last_signal.exchange(0);
}

int Interrupts::count() {
  return taken;
}

UserSignals::UserSignals() {
  set(kPassedOn, on_user_signal);
}

UserSignals::~UserSignals() {
  set(kPassedOn, SIG_DFL);
}

int UserSignals::take() {
  if (first_user_signal.exchange(false)) return SIGUSR1;
  return second_user_signal.exchange(false) ? SIGUSR2 : 0;
}

}  // namespace phx::app
