// Writes of blocks to words of global memory that other blocks may read.
#pragma once

#include "warps/lanes.h"

// After an access to `count` words at each of the lane_addresses. `flags`: see Follow.
void follow_access(Context &context, Warp &warp, uint32_t mask, uint32_t count, uint32_t flags);
