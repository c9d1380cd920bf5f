#pragma once

#include <string>
#include <string_view>

#include "overlay/base/result.h"
#include "overlay/network/known_network.h"

namespace phx::overlay {

/// A network as one line of words, for the environment of a process [README, "In words"]. Names of
/// sites are left out, which are for people.
[[nodiscard]] std::string in_words(const KnownNetwork& network);
/// The network that in_words() was given, without names. kBadInput: it is no such line, or says
/// what check() refuses.
[[nodiscard]] Result<KnownNetwork> network_of_words(std::string_view words);

}  // namespace phx::overlay
