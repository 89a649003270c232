// The accesses of a warp to global and shared memory: check every address, count, and move the data
// between the host's memory and the lanes' words.
//
// An access like an earlier access of its instruction takes the fast path, compiled for each kind
// of access; other accesses take the slow path (accesses.cpp, patterns.cpp). The functions of each
// space are a file of their own, because their compilation is the longest of the runtime.
#pragma once

#include "checked/checked.h"
#include "memory/moves.h"
#include "memory/patterns.h"
#include "timing/tracing.h"
#include "warps/clusters.h"

// Whether a trace or the checked mode needs each access.
HOT bool is_watched(const Context &context, const Warp &warp)
{
    return warp.trace < warp.trace_end || context.checked_state != nullptr;
}

HOT uint8_t *space_host(const Context &context, Space space)
{
    return host_pointer(space == Space::GLOBAL ? context.global_host : context.shared_host);
}

HOT void move(Context &context, Access access, Slot &slot, uint8_t *host, uint32_t mask)
{
    if (access.is(AccessFlag::LATER))
        return;
    if (access.load)
        move_in(context, access, slot, host, mask);
    else if (!access.atomic)
        move_out(context, access, slot, host, mask);
    if (access.space == Space::GLOBAL && !access.atomic)
        prefetch_next(context, access, slot, host);
}

// Counts an access if its pattern is another pattern in the slot.
APART bool recall(const Context &context, Access access, Slot &slot, uint32_t mask)
{
    slot.current = place_of_pattern(context, mask);
    return count_known(context, access, slot, mask);
}

// Counts an access if the slot knows it.
HOT bool find_known(const Context &context, Access access, Slot &slot, uint32_t mask)
{
    return likely(count_known(context, access, slot, mask)) || recall(context, access, slot, mask);
}

// Lane addresses are in lane_addresses and lane_uppers. `words` points to a store's data and
// receives a load's data. Without active lanes nothing happens.
HOT uint32_t access_memory(Context *context, Warp *warp, Access access, uint32_t slot_index,
                           uint32_t instruction, uint32_t mask)
{
    Slot &slot = context->slots[slot_index];
    if (unlikely(mask == 0 || is_watched(*context, *warp) ||
                 !find_known(*context, access, slot, mask)))
        return access_carefully(*context, *warp, access, slot_index, instruction, mask);
    move(*context, access, slot, space_host(*context, access.space), mask);
    return FaultCode::NONE;
}

// --- what kernels call ---------------------------------------------------------------------------

// A function for each space, direction and width, so that the width is a constant.
#define DEFINE_ACCESS(name, space, load, atomic, width)                                            \
    EXPORT uint32_t emulator_##name##_##width(Context *context, Warp *warp, uint32_t slot,         \
                                              uint32_t instruction, uint32_t mask, uint32_t flags) \
    {                                                                                              \
        return access_memory(context, warp, Access{space, load, atomic, width, flags}, slot,       \
                             instruction, mask);                                                   \
    }                                                                                              \
    EXPORT void emulator_move_##name##_##width(Context *context, Slot *slot, uint32_t flags)       \
    {                                                                                              \
        move(*context, Access{space, load, atomic, width, flags}, *slot,                           \
             space_host(*context, space), FULL_MASK);                                              \
    }
#define DEFINE_WIDTHS(define, ...)                                                                 \
    define(__VA_ARGS__, 1) define(__VA_ARGS__, 2) define(__VA_ARGS__, 4) define(__VA_ARGS__, 8)    \
        define(__VA_ARGS__, 16)
