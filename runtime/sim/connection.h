#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "overlay/base/time.h"
#include "runtime/messages/messages.h"
#include "runtime/sim/network_model.h"

namespace phx::sim {

/// A frame on its way.
struct InFlight {
  runtime::Frame frame;
  std::uint32_t segments = 1;  ///< That have not arrived.
  bool is_end = false;         ///< The sender has closed; not a frame.
  bool tell = false;           ///< The sender wants to hear when it has left.
};

/// What may be under way on a lane between sites, if the topology has windows.
struct Window {
  std::uint64_t bytes = 0;
  std::uint64_t under_way = 0;
  std::deque<std::uint32_t> waiting;  ///< Segments.
};

/// One direction of a connection. What arrives are segments; the order is the queue's.
struct Lane {
  MachineId from;
  MachineId to;
  std::list<InFlight> frames;  // a deque costs 0.6 kB also while it is empty
  Instant last_arrival{};
  std::vector<std::uint32_t> stopped;  ///< Segments that wait for heal().
  std::unique_ptr<Window> window;      ///< Null: unlimited.
};

/// What a machine knows of it.
struct End {
  LinkId link;
  bool is_open = false;  ///< Reported as up, and neither closed nor reported as down.
};

/// Between two machines, both directions.
struct Connection {
  End ends[2];  ///< [0] dialled. Lane i leads from end i to the other one.
  Lane lanes[2];
  bool is_broken = false;
};

}  // namespace phx::sim
