#pragma once

#include "runtime/mpi/base/attributes.h"

namespace phx::mpi {

/// A new key and its handle. A null function: the attribute is not copied; nothing is done at
/// deletion.
int make_keyval(Owner owner, CopyAttribute copy, DeleteAttribute remove, void* extra);
/// Closes the handle and makes it invalid; fails with MPI_ERR_KEYVAL.
void free_keyval(int* key, Owner owner);

}  // namespace phx::mpi
