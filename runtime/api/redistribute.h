#pragma once

#include "runtime/api/redistribution.h"
#include "runtime/api/session_core.h"

namespace phx {

/// Session's redistribute_bytes().
[[nodiscard]] Parcels redistribute(SessionCore& core, const Parcels& sent,
                                   const Redistribution& how);

}  // namespace phx
