// The timing model's simulation of one SM: what its parts share. The records come from
// timing/timing_records.py. Times are in cycles.
#pragma once

#include "lanes.h"

namespace timing {

// Lines of local memory are numbered from here on, apart from those of global memory.
constexpr int64_t LOCAL_LINES = int64_t(1) << 40;

inline double max(double a, double b) { return a < b ? b : a; }
inline double min(double a, double b) { return b < a ? b : a; }
inline int64_t max(int64_t a, int64_t b) { return a < b ? b : a; }

// When an instruction is done, and when it has read its registers.
struct Ends {
    double done, read;
};

// An instruction that is no access passes the load/store unit; returns when it has.
double pass_queue(const SM &sm, double t);
// The memory access `index` of a warp, -1 where no lane is active.
Ends access_memory(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t);

} // namespace timing
