// Memory accesses of a warp: check every address, count, and move the data between the host's
// memory and the lanes' words.
//
// An access like an earlier access of its instruction takes the fast path, compiled for each kind
// of access; other accesses take the slow path (patterns.cpp).
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

// --- global and shared memory --------------------------------------------------------------------

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

// Check and do an access to the shared memory of other blocks of the cluster: it adds to none of
// the totals that are graded (seen on an H200). Returns a FaultCode.
COLD uint32_t access_elsewhere(Context &context, const Warp &warp, Access access,
                               uint32_t slot_index, uint32_t instruction, uint32_t mask)
{
    if (mask == 0)
        return FaultCode::NONE;
    ++context.slots[slot_index].elsewhere_total;
    Slot &slot = context.cluster->elsewhere;
    count_access(context, access, slot, mask);
    uint32_t code = check_access(context, access, slot, instruction, mask);
    if (code != FaultCode::NONE)
        return code;
    if (context.checked_state != nullptr)
        watch_cluster(context, warp, access, instruction, mask);
    move(context, access, slot, space_host(context, access.space), mask);
    return FaultCode::NONE;
}

uint32_t access_carefully(Context &context, Warp &warp, Access access, uint32_t slot_index,
                          uint32_t instruction, uint32_t mask)
{
    if (access.space == Space::SHARED && unlikely(is_in_cluster(context))) {
        uint32_t elsewhere = lanes_elsewhere(context, mask);
        uint32_t code = access_elsewhere(context, warp, access, slot_index, instruction, elsewhere);
        if (code != FaultCode::NONE)
            return code;
        mask &= ~elsewhere;
    }
    if (mask == 0)
        return FaultCode::NONE;
    Slot &slot = context.slots[slot_index];
    if (!find_known(context, access, slot, mask)) {
        count_access(context, access, slot, mask);
        uint32_t code = check_access(context, access, slot, instruction, mask);
        if (code != FaultCode::NONE)
            return code;
        keep_worst(context, warp, access, slot, mask);
    }
    if (warp.trace < warp.trace_end && !access.is(AccessFlag::UNTRACED))
        trace_access(context, warp, access, passes_of(context, slot, mask), instruction, mask);
    if (context.checked_state != nullptr) {
        watch_access(context, warp, access, slot, instruction, mask);
        if (access.space == Space::SHARED && is_in_cluster(context))
            watch_cluster(context, warp, access, instruction, mask);
    }
    move(context, access, slot, space_host(context, access.space), mask);
    return FaultCode::NONE;
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

// --- local memory --------------------------------------------------------------------------------

// Each lane has its own local memory; the lanes' memories are consecutive. These accesses are not
// counted. Stores the first fault; returns a FaultCode.
COLD uint32_t check_local_lanes(Context &context, Access access, uint32_t instruction,
                                uint32_t mask)
{
    uint32_t size = context.local_bytes, width = access.width;
    for (uint32_t lane : Lanes{mask})
        if (size < width || context.lane_addresses[lane] > size - width)
            return report_fault(context, FaultCode::LOCAL_BOUNDS, instruction, lane,
                                context.lane_addresses[lane]);
    for (uint32_t lane : Lanes{mask})
        if (context.lane_addresses[lane] % width != 0)
            return report_fault(context, FaultCode::LOCAL_ALIGNMENT, instruction, lane,
                                context.lane_addresses[lane]);
    return FaultCode::NONE;
}

HOT bool check_local(const Context &context, Access access, uint32_t mask)
{
    const uint32_t *addresses = context.lane_addresses;
    uint32_t size = context.local_bytes, width = access.width;
    return size >= width && none_differs(mask, [=](uint32_t lane) {
               return uint32_t(addresses[lane] > size - width) | addresses[lane] % width;
           });
}

HOT uint32_t access_local(Context *context, Warp *warp, Access access, uint32_t instruction,
                          uint32_t mask)
{
    if (unlikely(!check_local(*context, access, mask))) {
        uint32_t code = check_local_lanes(*context, access, instruction, mask);
        if (code != FaultCode::NONE)
            return code;
    }
    if (unlikely(warp->trace < warp->trace_end) && mask != 0)
        trace_access(*context, *warp, access, 0, instruction, mask);
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        context->lane_addresses[lane] += lane * context->local_bytes;
    uint64_t before = uint64_t(warp->index) * WARP_LANES * context->local_bytes;
    move_apart(*context, access, host_pointer(context->local_host + before), mask);
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
#define DEFINE_LOCAL(name, load, width)                                                            \
    EXPORT uint32_t emulator_##name##_##width(Context *context, Warp *warp, uint32_t,              \
                                              uint32_t instruction, uint32_t mask, uint32_t flags) \
    {                                                                                              \
        return access_local(context, warp, Access{Space::LOCAL, load, false, width, flags},        \
                            instruction, mask);                                                    \
    }
#define DEFINE_WIDTHS(define, ...)                                                                 \
    define(__VA_ARGS__, 1) define(__VA_ARGS__, 2) define(__VA_ARGS__, 4) define(__VA_ARGS__, 8)    \
        define(__VA_ARGS__, 16)

DEFINE_WIDTHS(DEFINE_ACCESS, load_global, Space::GLOBAL, true, false)
DEFINE_WIDTHS(DEFINE_ACCESS, load_shared, Space::SHARED, true, false)
DEFINE_WIDTHS(DEFINE_LOCAL, load_local, true)
DEFINE_WIDTHS(DEFINE_ACCESS, store_global, Space::GLOBAL, false, false)
DEFINE_WIDTHS(DEFINE_ACCESS, store_shared, Space::SHARED, false, false)
DEFINE_WIDTHS(DEFINE_LOCAL, store_local, false)

// Accesses of 32 bytes to global memory exist since sm_100.
DEFINE_ACCESS(load_global, Space::GLOBAL, true, false, 32)
DEFINE_ACCESS(store_global, Space::GLOBAL, false, false, 32)

// The kernel's own code then performs the atomic operations lane by lane.
DEFINE_ACCESS(atomic_global, Space::GLOBAL, false, true, 4)
DEFINE_ACCESS(atomic_global, Space::GLOBAL, false, true, 8)
DEFINE_ACCESS(atomic_global, Space::GLOBAL, false, true, 16)
DEFINE_ACCESS(atomic_shared, Space::SHARED, false, true, 4)
DEFINE_ACCESS(atomic_shared, Space::SHARED, false, true, 8)
DEFINE_ACCESS(atomic_shared, Space::SHARED, false, true, 16)

// Loads a constant per lane from the offsets in lane_addresses into lane_data. Returns a FaultCode:
// an offset may lie beyond the bank.
EXPORT uint32_t emulator_gather_constants(Context *context, Warp *warp, const uint8_t *bank,
                                          uint32_t size, uint32_t instruction, uint32_t mask,
                                          uint32_t width, uint32_t flags)
{
    Access access{Space::GLOBAL, true, false, uint8_t(width), flags};
    for (uint32_t lane : Lanes{mask}) {
        uint32_t start = context->lane_addresses[lane];
        if (uint64_t(start) + width > size || start % width != 0)
            return report_fault(*context, FaultCode::CONSTANT_BOUNDS, instruction, lane, start);
        load_lane(context->lane_data, bank + start, access, lane);
    }
    if (warp->trace < warp->trace_end && mask != 0)
        trace_constants(*context, *warp, instruction, mask);
    return FaultCode::NONE;
}

// Nsight Compute counts the distinct bytes of a generic access as global, even in shared and local
// memory. Local addresses of lanes are equal for one variable.
EXPORT void emulator_count_bytes_elsewhere(Context *context, uint32_t slot, uint32_t mask,
                                           uint32_t width)
{
    uint32_t distinct = distinct_lanes(context->lane_addresses, mask, WARP_LANES);
    context->slots[slot].bytes_total += count_lanes(distinct) * width;
}

// The lanes of a mask that are the first in their group with their place among the banks.
EXPORT uint32_t emulator_first_lanes(const Context *context, uint32_t mask, uint32_t group)
{
    uint32_t places[WARP_LANES];
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        places[lane] = context->lane_addresses[lane] % WARP_BYTES;
    return distinct_lanes(places, mask, group);
}
