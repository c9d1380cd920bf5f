#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "overlay/base/ids.h"
#include "runtime/channels/channel_outputs.h"

namespace phx::runtime {

/// A search of Detours for a link to one peer. Not thread-safe.
struct DetourSearch {
  bool is_wanted = false;  ///< By Channels; else the peer has a detour, and is dialled again.
  bool is_dialling = false;
  channel::DialFailure how = channel::DialFailure::kNoWay;  ///< The dial failed.
  std::string why;
  std::uint64_t number = 0;           ///< Of the detour asked for; 0: none yet.
  std::set<ProcessorId> asked;        ///< Relays that have not said no.
  std::set<ProcessorId> unconnected;  ///< ... and have to be dialled first.
};

/// Who was asked about one peer, over all searches until one succeeds.
struct DetourRound {
  std::set<ProcessorId> tried;  ///< Each is asked once before anybody is asked again.
  std::size_t most = 0;         ///< So many are asked at once.
  bool is_repeated = false;     ///< All were asked in vain: from now on few are at once.
};

}  // namespace phx::runtime
