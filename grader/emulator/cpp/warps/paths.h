// A warp's paths, and where they meet again.
#pragma once

#include "warps/lanes.h"

// Give lanes a path of their own; returns its slot.
uint32_t push_path(Warp &warp, uint32_t mask, uint32_t pc, int32_t wait);
// Make another path the running one, see paths.cpp; false: none can run.
bool next_path(Warp &warp);
// Let the path run that has waited for that the longest, in place of the running one, which stays
// where there is none. Returns how many others there are.
uint32_t change_path(Warp &warp);
// All paths that can run wait in loops: let those go on that wait for them behind the loop, at a
// BSYNC (so does an H200 where a lane has the lock that the others wait for). False: there are
// none.
bool pass_barrier(Warp &warp);
// Lanes have arrived at a barrier, or others will not come to it any more, which is
// Repeat::AS_OTHERS_LEFT. Who is the last to arrive goes on at once.
void release_paths(Context &context, Warp &warp, uint32_t repeat);
