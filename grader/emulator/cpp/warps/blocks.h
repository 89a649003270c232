// The order in which the warps of a block and the resident blocks run.
#pragma once

#include "checked/checked.h"
#include "warps/paths.h"

// Ends of a warp's or block's turn besides a FaultCode. WAITS: it waits in a loop for other
// threads. STALLED: it also waited in its last turns, and nothing has changed.
constexpr uint32_t WAITS = 0xFFFD, STALLED = 0xFFFC;

constexpr int64_t NEVER = INT64_MAX;

// Warp instructions of a slice before a warp's loop is examined for the first time.
constexpr uint32_t FIRST_SLICE = 4096;

// waiting.cpp: runs until every path waits at a barrier or has ended (FaultCode::NONE), or until
// all paths that can run wait in loops. Returns a FaultCode, WAITS or STALLED.
uint32_t run_warp(Context &context, Warp &warp);
// residents.cpp: starts a trace because the block runs so long that other blocks may be shorter.
void trace_late(Context &context);
// Stores the place where a block waits forever as the fault.
uint32_t blame_waiting(Context &context);

// blocks.cpp: `begin_block` resets the block's memory and barriers. `run_block` runs its warps to
// the end, or until all that can run wait in loops (WAITS, STALLED), or until those that can run
// reach atomics that other blocks execute first (DRAWS). Returns one of these or a FaultCode.
void begin_block(Context &context);
// The largest clock of the block's warps.
int64_t latest_clock(Context &context);
uint32_t run_block(Context &context);
