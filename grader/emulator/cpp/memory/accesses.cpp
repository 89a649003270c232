// The slow path of accesses to global and shared memory, and accesses to local memory and constants.
#include "memory/accesses.h"

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

// The number of packets for lanes that access other blocks: each is for a pair of sectors, or for a
// sector of an atomic (H200: costs/cluster_*.cu, clusters/halves_exchanged.cu). Blocks have
// different addresses.
static uint32_t count_packets(const Context &context, Access access, uint32_t mask)
{
    uint32_t bytes = access.atomic ? SECTOR_BYTES : 2 * SECTOR_BYTES, packets[WARP_LANES];
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        packets[lane] = context.lane_addresses[lane] / bytes;
    return count_lanes(distinct_lanes(packets, mask, WARP_LANES));
}

uint32_t access_carefully(Context &context, Warp &warp, Access access, uint32_t slot_index,
                          uint32_t instruction, uint32_t mask)
{
    bool traced = warp.trace < warp.trace_end && !access.is(AccessFlag::UNTRACED);
    uint32_t all = mask, packets = 0;
    if (access.space == Space::SHARED && unlikely(is_in_cluster(context))) {
        uint32_t elsewhere = lanes_elsewhere(context, mask);
        packets = traced ? count_packets(context, access, elsewhere) : 0;
        uint32_t code = access_elsewhere(context, warp, access, slot_index, instruction, elsewhere);
        if (code != FaultCode::NONE)
            return code;
        mask &= ~elsewhere;
    }
    uint32_t passes = packets << TraceWord::ELSEWHERE_SHIFT;
    if (mask == 0 && packets != 0)
        trace_access(context, warp, access, passes, instruction, all);
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
    if (traced)
        trace_access(context, warp, access, passes | passes_of(context, slot, mask), instruction,
                     all);
    if (context.checked_state != nullptr) {
        watch_access(context, warp, access, slot, instruction, mask);
        if (access.space == Space::SHARED && is_in_cluster(context))
            watch_cluster(context, warp, access, instruction, mask);
    }
    move(context, access, slot, space_host(context, access.space), mask);
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

#define DEFINE_LOCAL(name, load, width)                                                            \
    EXPORT uint32_t emulator_##name##_##width(Context *context, Warp *warp, uint32_t,              \
                                              uint32_t instruction, uint32_t mask, uint32_t flags) \
    {                                                                                              \
        return access_local(context, warp, Access{Space::LOCAL, load, false, width, flags},        \
                            instruction, mask);                                                    \
    }
DEFINE_WIDTHS(DEFINE_LOCAL, load_local, true)
DEFINE_WIDTHS(DEFINE_LOCAL, store_local, false)

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
