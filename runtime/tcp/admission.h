#pragma once

#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/daemon.h"
#include "runtime/tcp/address.h"
#include "runtime/tcp/key.h"

namespace phx::tcp {

/// A processor that has bound its port, and where it shall ask.
struct Newcomer {
  runtime::Member self;            ///< Without an id.
  Address bound;                   ///< Port 0: it listens nowhere.
  std::vector<std::string> asked;  ///< "address:port"; may contain its own.
};

/// What it starts from [README, "Joining"]:
///  - a new mesh if nobody is to be asked;
///  - a new mesh, as its founder, if its own address is the first and nobody else answers;
///  - the place that a member gives it. Each is asked, the one that answers first before the
///    others, again and again for up to `patience`.
/// Errors are for the person who started it: kUnavailable, kTimeout (nobody answers), kNotFound (a
/// name), kDenied (wrong key, or refused for good), kBusy (refused for now, as a full mesh does),
/// kBadInput (only itself is to be asked). Blocks.
[[nodiscard]] Result<runtime::Birth> begin_or_join(const Newcomer& newcomer, const MeshKey& key,
                                                   Duration patience = 10s);

}  // namespace phx::tcp
