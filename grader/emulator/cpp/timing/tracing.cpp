#include "timing/tracing.h"

// Called before a basic block if the warp's record is not full.
EXPORT void emulator_trace_block(Warp *warp, uint32_t block)
{
    *warp->trace++ = TraceWord::BLOCK | block;
}

// Starts the record of an access.
static void trace_head(Warp &warp, uint32_t space, uint32_t passes, uint32_t instruction,
                       uint32_t mask)
{
    *warp.trace++ = TraceWord::ACCESS | space << TraceWord::SPACE_SHIFT | instruction;
    *warp.trace++ = mask;
    *warp.trace++ = passes;
}

void forget_rounds(Context &context, Warp &warp, int64_t words, int64_t instructions)
{
    if (context.traces == nullptr || warp.trace >= warp.trace_end || words == 0)
        return;
    auto first = reinterpret_cast<const uint32_t *>(context.traces[warp.index].first);
    const uint32_t *round = warp.trace - words;
    auto bytes = uint64_t(words) * sizeof *round;
    do {
        warp.trace -= words;
        context.waiting += instructions;
    } while (warp.trace - first >= words && memcmp(warp.trace - words, round, bytes) == 0);
}

void trace_access(const Context &context, Warp &warp, Access access, uint32_t passes,
                  uint32_t instruction, uint32_t mask)
{
    trace_head(warp, uint32_t(access.space), passes, instruction, mask);
    if (access.space != Space::SHARED) {
        memcpy(warp.trace, context.lane_addresses, sizeof context.lane_addresses);
        warp.trace += WARP_LANES;
    }
}

void trace_object(Warp &warp, uint32_t instruction, uint32_t address, uint32_t threads,
                  uint32_t copied)
{
    // Number 0 would be no record at all.
    uint32_t number = address / uint32_t(sizeof(uint64_t)) + 1;
    if (warp.trace < warp.trace_end)
        trace_head(warp, TraceWord::CONSTANT, number << 16 | (threads & 0xFFFF), instruction,
                   copied);
}

void trace_constants(const Context &context, Warp &warp, uint32_t instruction, uint32_t mask)
{
    uint32_t distinct = distinct_lanes(context.lane_addresses, mask, WARP_LANES);
    trace_head(warp, TraceWord::CONSTANT, count_lanes(distinct), instruction, mask);
}

// Lanes that ask for different times sleep for little more than the shortest of them (H200).
static uint32_t least_of(const Context &context, uint32_t mask)
{
    uint32_t least = 0x7FFFFFFF;
    for (uint32_t lane : Lanes{mask})
        least = smaller(least, context.lane_addresses[lane]);
    return least;
}

// Traces the least of the active lanes' words in lane_addresses: the nanoseconds of a sleep, or the
// address of a called system function.
EXPORT void emulator_trace_value(const Context *context, Warp *warp, uint32_t instruction,
                                 uint32_t mask)
{
    if (warp->trace < warp->trace_end && mask != 0)
        trace_head(*warp, TraceWord::CONSTANT, least_of(*context, mask), instruction, mask);
}

// Traces the number of distinct words in lane_addresses.
EXPORT void emulator_trace_distinct(const Context *context, Warp *warp, uint32_t instruction,
                                    uint32_t mask)
{
    if (warp->trace < warp->trace_end && mask != 0)
        trace_constants(*context, *warp, instruction, mask);
}

// A sleep; its nanoseconds are in lane_addresses. The warp's clock advances, so that a block that
// sleeps counts as a long block.
EXPORT void emulator_sleep(const Context *context, Warp *warp, uint32_t instruction, uint32_t mask)
{
    if (mask != 0)
        warp->clock += int64_t(least_of(*context, mask)) * CYCLES_IN_4_NS / 4;
    emulator_trace_value(context, warp, instruction, mask);
}

// A prefetch of the lanes whose addresses lie in buffers: others have no effect.
EXPORT void emulator_trace_prefetch(const Context *context, Warp *warp, uint32_t instruction,
                                    uint32_t mask)
{
    if (warp->trace >= warp->trace_end)
        return;
    uint32_t valid = 0;
    for (uint32_t lane : Lanes{mask})
        for (uint32_t index = 0; index < context->buffer_count; ++index) {
            const Buffer &buffer = context->buffers[index];
            uint64_t address = context->lane_addresses[lane];
            bool inside = buffer.first <= address && address < buffer.end;
            valid |= uint32_t(inside && context->lane_uppers[lane] == context->global_window)
                     << lane;
        }
    if (valid != 0)
        trace_access(*context, *warp, Access{Space::GLOBAL, true, false, 4, 0}, 0, instruction,
                     valid);
}
