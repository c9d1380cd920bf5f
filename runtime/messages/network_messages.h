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
/// To a process: the trees of its broadcasts are other ones now. What has left for those that do
/// not keep up may wait on ways that nobody takes any more.
struct AppRedrawn {
  friend bool operator==(const AppRedrawn&, const AppRedrawn&) = default;
};
/// Whether the mesh is on this machine alone, where long payloads are lent and not written. Unless
/// it was told, it is not.
struct AppPlace {
  bool is_one_machine = false;
  friend bool operator==(const AppPlace&, const AppPlace&) = default;
};

}  // namespace phx::runtime
