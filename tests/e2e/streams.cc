/// An application for the tests of this folder: much is sent to those who take it late, slowly, in
/// another order, or not at all. Everything is numbered and counted.
///   streams slow COUNT BYTES MICROSECONDS   v1 takes so long for each message of v0
///   streams first BYTES                     everybody sends so much to everybody, then receives
///   streams late COUNT BYTES                v1 wants the last message of v0 before the others
///   streams idle COUNT BYTES                v1 receives nothing at all, and ends
#include <phoenix.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

enum : phx::Tag { kData, kLast };

phx::Payload numbered(std::uint64_t number, std::size_t bytes) {
  phx::Bytes content(std::max(bytes, sizeof(number)));
  std::memcpy(content.data(), &number, sizeof(number));
  return phx::Payload(std::move(content));
}

void expect(const phx::Message& message, std::uint64_t number, std::size_t bytes) {
  std::uint64_t found = 0;
  const auto content = message.payload.bytes();
  if (content.size() == std::max(bytes, sizeof(found))) {
    std::memcpy(&found, content.data(), sizeof(found));
    if (found == number) return;
  }
  throw std::runtime_error("a message is lost, doubled, damaged, or out of order");
}

/// The most memory this process ever had, in MiB.
std::uint64_t peak_mib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    std::uint64_t kib = 0;
    status >> kib;
    return kib / 1024;
  }
  return 0;
}

void report(phx::Session& job, const char* what) {
  std::printf("%s: v%s, peak %llu MiB\n", what, job.holds(0) ? "0" : "1",
              static_cast<unsigned long long>(peak_mib()));
}

void slow(phx::Session& job, std::uint64_t count, std::size_t bytes, long pause_us) {
  if (job.holds(0)) {
    for (std::uint64_t i = 0; i < count; ++i) job.send_bytes(0, 1, numbered(i, bytes), kData);
  }
  if (job.holds(1)) {
    for (std::uint64_t i = 0; i < count; ++i) {
      expect(job.recv({.at = 1}), i, bytes);
      std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    }
    std::printf("all %llu messages came in order\n", static_cast<unsigned long long>(count));
  }
}

void first(phx::Session& job, std::size_t bytes) {
  constexpr std::size_t kPart = std::size_t{1} << 20U;
  const std::uint64_t parts = bytes / kPart;
  for (const phx::Vnode from : job.held()) {
    for (phx::Vnode to = 0; to < job.vnodes(); ++to) {
      for (std::uint64_t i = 0; i < parts; ++i) job.send_bytes(from, to, numbered(i, kPart), kData);
    }
  }
  for (const phx::Vnode at : job.held()) {
    for (phx::Vnode from = 0; from < job.vnodes(); ++from) {
      for (std::uint64_t i = 0; i < parts; ++i) {
        expect(job.recv({.at = at, .from = from}), i, kPart);
      }
    }
  }
  if (job.holds(0)) std::printf("everybody sent first\n");
}

void late(phx::Session& job, std::uint64_t count, std::size_t bytes) {
  if (job.holds(0)) {
    for (std::uint64_t i = 0; i < count; ++i) job.send_bytes(0, 1, numbered(i, bytes), kData);
    job.send_bytes(0, 1, numbered(count, bytes), kLast);
  }
  if (job.holds(1)) {
    expect(job.recv({.at = 1, .tag = kLast}), count, bytes);
    for (std::uint64_t i = 0; i < count; ++i) expect(job.recv({.at = 1}), i, bytes);
    std::printf("the last one came first\n");
  }
}

void idle(phx::Session& job, std::uint64_t count, std::size_t bytes) {
  if (!job.holds(0)) return;
  for (std::uint64_t i = 0; i < count; ++i) job.send_bytes(0, 1, numbered(i, bytes), kData);
  std::printf("nobody receives\n");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string mode = argc > 1 ? argv[1] : "";
  const auto number = [&](int at) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : std::uint64_t{0};
  };
  phx::Session job;
  if (!job.safe_point()) return 0;
  if (mode == "slow") slow(job, number(2), number(3), static_cast<long>(number(4)));
  if (mode == "first") first(job, number(2));
  if (mode == "late") late(job, number(2), number(3));
  if (mode == "idle") idle(job, number(2), number(3));
  job.finish();
  report(job, mode.c_str());
  return 0;
} catch (const phx::Failure& failure) {
  std::fprintf(stderr, "streams: %s\n", failure.what());
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "streams: %s\n", error.what());
  return 1;
}
