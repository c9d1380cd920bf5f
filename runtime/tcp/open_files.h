#pragma once

#include <sys/resource.h>

#include <vector>

namespace phx::tcp {

/// Lets this process have as many files open as it may: a mesh of many processors needs a
/// descriptor per member. Returns how many that are; 0: not known.
rlim_t raise_open_files();

/// What it was before, for a program that is started from here: one that uses select(), or closes
/// all descriptors there may be, relies on it. May be called between fork and exec.
void restore_open_files();

/// Closes what whoever started this process has left open here, but for these and the standard
/// ones: it may wait for its end. What is -1 in `kept` is none.
void close_inherited(std::vector<int> kept);

}  // namespace phx::tcp
