// The accesses of the traced blocks, in the order of their warps.
#pragma once

#include "timing/timing.h"

namespace timing {

// The last access of a step with accesses.
inline int64_t last_of(const Access *accesses, const Step &step)
{
    return step.access + accesses[step.access].more;
}

// Calls `each` for all accesses, with the instruction, the warp's number and the warp's steps
// before the access.
template <class Each> void for_accesses(const Stream &streams, Each each)
{
    for (int64_t warp = 0; warp < streams.block_count * streams.warps_per_block; ++warp)
        for (int64_t n = streams.first[warp]; n < streams.first[warp + 1]; ++n) {
            const Step &step = streams.steps[n];
            for (int64_t k = step.access; k >= 0 && k <= last_of(streams.accesses, step); ++k)
                each(streams.accesses[k], streams.table[step.code], warp, n - streams.first[warp]);
        }
}

// Likewise for all lines of accesses to global memory.
template <class Each> void for_lines(const Stream &streams, Each each)
{
    for_accesses(streams, [&](const Access &access, const CodeRow &row, int64_t warp, int64_t n) {
        for (int64_t k = access.first; access.space == TraceWord::GLOBAL && k < access.end; ++k)
            each(streams.lines[k], row, warp, n);
    });
}

// The buffer that holds a line; null for none.
inline Region *region_of(Region *regions, int64_t count, int64_t line)
{
    for (Region *each = regions; each < regions + count; ++each)
        if (each->first_line <= line && line < each->end_line)
            return each;
    return nullptr;
}

} // namespace timing
