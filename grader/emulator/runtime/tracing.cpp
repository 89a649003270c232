#include "tracing.h"

// The step in front of a basic block calls it where the warp's record has room.
EXPORT void emulator_trace_block(Warp *warp, uint32_t block)
{
    *warp->trace++ = TraceWord::BLOCK | block;
}

static uint32_t space_number(Space space)
{
    switch (space) {
    case Space::GLOBAL:
        return TraceWord::GLOBAL;
    case Space::SHARED:
        return TraceWord::SHARED;
    default:
        return TraceWord::LOCAL;
    }
}

void trace_access(const Context &context, Warp &warp, Access access, uint32_t passes,
                  uint32_t instruction, uint32_t mask)
{
    uint32_t space = space_number(access.space) << TraceWord::SPACE_SHIFT;
    *warp.trace++ = TraceWord::ACCESS | space | instruction;
    *warp.trace++ = mask;
    *warp.trace++ = passes;
    if (access.space != Space::SHARED) {
        memcpy(warp.trace, context.lane_addresses, sizeof context.lane_addresses);
        warp.trace += WARP_LANES;
    }
}

void trace_constants(const Context &context, Warp &warp, uint32_t instruction, uint32_t mask)
{
    uint32_t space = TraceWord::CONSTANT << TraceWord::SPACE_SHIFT;
    *warp.trace++ = TraceWord::ACCESS | space | instruction;
    *warp.trace++ = mask;
    *warp.trace++ = count_lanes(distinct_lanes(context.lane_addresses, mask, WARP_LANES));
}
