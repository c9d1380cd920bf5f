#pragma once

/// The one include of an application. README.md of this folder shows how programs are written.
///
///     phx::Session job;                                   this process's part of the job
///     phx::Objects<Block> blocks(job, make_block);        one Block per vnode; moves with it
///     while (job.safe_point()) {                          vnodes may come and go here
///       for (auto& [v, block] : blocks) job.send(v, right_of(v), block.edge(), kHalo);
///       for (auto& [v, block] : blocks) block.step(job.recv<Edge>({.at = v, .tag = kHalo}));
///       if (job.allreduce(phx::max, [&](phx::Vnode v) { return blocks[v].change; }) < 1e-6) break;
///     }

// IWYU pragma: begin_exports
#include "runtime/api/failure.h"
#include "runtime/api/message.h"
#include "runtime/api/objects.h"
#include "runtime/api/options.h"
#include "runtime/api/reader.h"
#include "runtime/api/redistribution.h"
#include "runtime/api/reduce.h"
#include "runtime/api/session.h"
#include "runtime/api/session_collectives.h"
#include "runtime/api/values.h"
#include "runtime/api/vnode_state.h"
#include "runtime/api/vnode_values.h"
#include "runtime/api/writer.h"
// IWYU pragma: end_exports
