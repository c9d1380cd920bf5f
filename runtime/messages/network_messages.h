#pragma once

#include "overlay/survey_messages.h"

// An application process asks its daemon for the network [local_messages.h].
namespace phx::runtime {

/// What is known of the network? Answered by AppNetwork.
struct AppNetworkQuestion {
  friend bool operator==(const AppNetworkQuestion&, const AppNetworkQuestion&) = default;
};
struct AppNetwork {
  overlay::NetworkUpdate known;
  friend bool operator==(const AppNetwork&, const AppNetwork&) = default;
};

}  // namespace phx::runtime
