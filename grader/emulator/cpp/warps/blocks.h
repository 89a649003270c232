// Who runs when: warps of a block, and blocks that are on the chip together.
#pragma once

#include "checked/checked.h"
#include "warps/paths.h"

// How a turn of a warp or block ends, besides by a FaultCode: it waits in a loop for what others
// do; STALLED: so it did in its last turns, and nothing has changed for it.
constexpr uint32_t WAITS = 0xFFFD, STALLED = 0xFFFC;

// Later than any clock.
constexpr int64_t NEVER = INT64_MAX;

// Warp instructions after which a warp is looked at for the first time.
constexpr uint32_t FIRST_SLICE = 4096;

// waiting.cpp: run until every path waits at a barrier or has ended (FaultCode::NONE), or until all
// that can run wait in loops. Returns a FaultCode, WAITS or STALLED.
uint32_t run_warp(Context &context, Warp &warp);
// residents.cpp: the block has taken so long that others may be shorter; leave a trace from now on.
void trace_late(Context &context);
// Say where a block that waits for ever does so.
uint32_t blame_waiting(Context &context);

// blocks.cpp: reset the warps of the context's block, run them to its end, or until all that can
// run wait in loops (WAITS, STALLED), or until those that can go on come to atomics that other
// blocks execute first (DRAWS). Returns one of these or a FaultCode.
void begin_block(Context &context);
// The clock of the warp that has come furthest.
int64_t latest_clock(Context &context);
uint32_t run_block(Context &context);
