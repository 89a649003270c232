// The paths of a diverged warp, and the places where they merge.
#pragma once

#include "warps/lanes.h"

// Whether a slot holds a path that waits for this.
inline bool waits_for(const Warp &warp, uint32_t slot, int32_t wait)
{
    return warp.path_mask[slot] != 0 && warp.path_wait[slot] == wait;
}

// Gives lanes a separate path; returns its slot.
uint32_t push_path(Warp &warp, uint32_t mask, uint32_t pc, int32_t wait);
// Makes another path the running path (rules: paths.cpp); false if none can run.
bool next_path(Warp &warp);
// Exchanges the running path with the path that has waited longest for a turn; without another path
// nothing changes. Returns the number of other paths.
uint32_t change_path(Warp &warp);
// All paths that can run wait in loops: releases a path that waits at a BSYNC behind the loop. (An
// H200 does so if a lane holds the lock that the others wait for.) False if there is none.
bool pass_barrier(Warp &warp);
