#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/// A blocking TCP connection over loopback, as the simplest program would use it: what the runtime
/// is compared with. Throws std::runtime_error.
class PlainTcp {
 public:
  PlainTcp() = default;
  ~PlainTcp();
  PlainTcp(const PlainTcp&) = delete;
  PlainTcp& operator=(const PlainTcp&) = delete;

  /// Opens a port and returns it; the next call must be accept().
  [[nodiscard]] std::uint16_t listen();
  void accept();
  void connect(std::uint16_t port);
  /// Both wait until all bytes have passed.
  void write(std::span<const std::byte> bytes);
  void read(std::span<std::byte> bytes);

 private:
  int listener_ = -1;
  int socket_ = -1;
};

}  // namespace bench
