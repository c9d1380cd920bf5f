#pragma once

#include <vector>

namespace phx::phoenixd {

/// This process, and what it starts, runs on these processors of the machine. Empty: on all.
void bind_to(const std::vector<int>& cpus);

/// A daemon works for some microseconds at a time, beside applications that compute. With short
/// slices the system lets it in when a message comes, and not when a slice of theirs is over. What
/// it starts has slices as usual. Systems before Linux 6.12 change nothing.
void ask_for_short_slices();

}  // namespace phx::phoenixd
