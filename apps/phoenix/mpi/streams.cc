#include "apps/phoenix/mpi/streams.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "apps/phoenix/jobs/job_output.h"

namespace phx::app {
namespace {

constexpr std::size_t kChunk = 16384;
constexpr std::size_t kLineMax = std::size_t{1} << 20U;
constexpr std::size_t kShownMax = std::size_t{1} << 16U;

std::size_t index_of(int stream) {
  return static_cast<std::size_t>(stream - STDOUT_FILENO);
}

}  // namespace

void Lines::take(const std::function<void(const std::string&)>& f) {
  if (!source_.is_open()) return;
  std::array<char, kChunk> chunk{};
  const ssize_t size = ::read(source_.get(), chunk.data(), chunk.size());
  std::string_view rest(chunk.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    begun_ += rest.substr(0, end);
    rest.remove_prefix(end + 1);
    f(std::exchange(begun_, {}));
  }
  begun_ += rest;
  if (begun_.size() >= kLineMax) f(std::exchange(begun_, {}));
  if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR))) return;
  source_.reset();
  if (!begun_.empty()) f(std::exchange(begun_, {}));
}

void Shown::add(int stream, std::string_view text) {
  waiting_[index_of(stream)] += text;
  write(stream);
}

void Shown::write() {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) write(stream);
}

void Shown::write(int stream) {
  std::string& waiting = waiting_[index_of(stream)];
  std::size_t written = 0;
  while (written < waiting.size()) {
    const auto size = write_some(stream, std::string_view(waiting).substr(written), {});
    if (!size && errno == EPIPE) is_unread_ = true;
    const bool is_output = stream == STDOUT_FILENO;
    if (!size && is_output && errno != EPIPE && loss_.empty()) loss_ = std::strerror(errno);
    if (!size) written = waiting.size();
    if (!size || *size == 0) break;
    written += *size;
  }
  waiting.erase(0, written);
}

bool Shown::is_full(int stream) const {
  return waiting_[index_of(stream)].size() >= kShownMax;
}

pollfd Shown::room(int stream) const {
  return {waiting_[index_of(stream)].empty() ? -1 : stream, POLLOUT, 0};
}

}  // namespace phx::app
