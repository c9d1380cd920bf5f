#pragma once

#include "runtime/mpi/datatypes/signature.h"

/// The representation "external32": big-endian, with sizes that are the same on every machine.
namespace phx::mpi {

/// Writes `count` times the signature to `out`; `packed` is the packed form of this machine.
/// Numbers that do not fit into the size of external32 lose their upper bytes.
void to_external32(const Signature& signature, MPI_Count count, const void* packed, void* out);
/// The reverse.
void from_external32(const Signature& signature, MPI_Count count, const void* in, void* packed);

}  // namespace phx::mpi
