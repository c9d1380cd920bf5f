#pragma once

#include <cstdint>
#include <string>

#include "overlay/base/time.h"

namespace phx {

/// How a session finds its daemon and how patient it is. What is empty here is taken from the
/// environment; a process that `phoenix run` started needs none of it.
struct Options {
  /// The daemon's socket: PHOENIX_SOCKET. Empty: this process carries a daemon inside.
  std::string socket{};
  /// Inside: any member of the mesh to join, "address:port": PHOENIX_JOIN. Empty: a mesh of its
  /// own.
  std::string join{};
  /// Inside: the key of the mesh: PHOENIX_KEY_FILE. Needed to join, or to be joined.
  std::string key_file{};
  /// Inside: where others may join, "address:port": PHOENIX_LISTEN. Empty: any port of loopback if
  /// there is a key, else nowhere.
  std::string listen{};
  /// Inside: vnodes of the job, if this process is the first: PHOENIX_VNODES. 0: one.
  std::uint64_t vnodes = 0;
  /// Inside: in a job that this process begins vnodes move by themselves; else only by assume() and
  /// release().
  bool balance = true;
  /// Inside: a member of the mesh that is silent for so long is taken for dead. One on this machine
  /// whose process has ended is known to be dead at once, however long this is.
  Duration peer_timeout = 5s;
  /// Inside: long messages to and from daemons of this machine go through memory that both have
  /// mapped, and not over TCP.
  bool shares_memory = true;
  /// Bytes of messages that their receivers do not have yet: with more of them send() waits for the
  /// receivers. PHOENIX_SEND_BYTES. 0: an eighth of the machine's memory.
  std::uint64_t send_bytes_max = 0;
  /// Bytes of messages that may pile up here while recv() waits for another one; beyond it recv()
  /// throws Failure (kLimit). PHOENIX_RECEIVE_BYTES. 0: an eighth of the machine's memory.
  std::uint64_t receive_bytes_max = 0;
  /// How long a call waits before it throws Failure (kTimeout).
  Duration timeout = kForever;
  /// How long attaching may take, joining a mesh included.
  Duration attach_timeout = 30s;
};

}  // namespace phx
