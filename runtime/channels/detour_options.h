#pragma once

#include <cstddef>
#include <cstdint>

#include "overlay/base/time.h"

namespace phx::runtime {

/// Knobs and limits of Detours.
struct DetourOptions {
  Duration dial_patience = 700ms;  ///< A dial may take so long before others are asked for help.
  Duration ask_patience = 1500ms;  ///< Relays that have not answered by then do not help.
  /// ... or by then, if the peer's machine has refused: it answers fast, so relays do as well.
  Duration refused_patience = 300ms;
  std::size_t asked = 3;          ///< Relays asked at first about one peer; the nearest one wins.
  Duration widen_after = 300ms;   ///< If none of them answers so soon, more are asked ...
  std::size_t widening = 8;       ///< ... so many times as many as before.
  std::size_t dialled_most = 64;  ///< Relays dialled at once to be asked [limit].
  Duration favour_memory = 2s;    ///< A relay does not dial again in vain for so long.
  std::size_t favours_max = 256;  ///< Questions that wait for a relay's own dials [limit].
  /// Pause before a peer that is reached through another one is dialled again; doubles.
  Duration retry_min = 1s;
  Duration retry_max = 60s;
};

/// Those for a mesh in which silence of `peer_timeout` counts as a death: all are asked in time.
[[nodiscard]] inline DetourOptions detour_options_for(Duration peer_timeout) {
  constexpr Duration kUsual = 5s;  // which the defaults are for
  DetourOptions options;
  if (peer_timeout >= kUsual) return options;
  for (Duration* patience : {&options.dial_patience, &options.ask_patience,
                             &options.refused_patience, &options.widen_after}) {
    *patience = *patience / 1000 * (peer_timeout / (kUsual / 1000));
  }
  return options;
}

/// What happened so far, for `phoenix status`.
struct DetourCounters {
  std::uint64_t made = 0;       ///< Detours that came up here.
  std::uint64_t relayed = 0;    ///< Frames forwarded for others.
  std::uint64_t unrelayed = 0;  ///< ... that could not be: there is no connection.
};

}  // namespace phx::runtime
