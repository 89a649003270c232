// A warp's paths, and where they meet again.
#pragma once

#include "lanes.h"

// Make the path that waits for nothing and got its slot last the running one; false: none can run.
bool next_path(Warp &warp);
// Lanes have arrived at a barrier, or, `left`, others will not come to it any more.
void release_paths(Context &context, Warp &warp, bool left);
