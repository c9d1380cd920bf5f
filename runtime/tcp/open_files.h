#pragma once

#include <sys/resource.h>

namespace phx::tcp {

/// Lets this process have as many files open as it may: a mesh of many processors needs a
/// descriptor per member. Returns how many that are; 0: not known.
rlim_t raise_open_files();

/// What it was before, for a program that is started from here: one that uses select(), or closes
/// all descriptors there may be, relies on it. May be called between fork and exec.
void restore_open_files();

}  // namespace phx::tcp
