// The slow path of accesses: new patterns, accesses that leave the last buffer, and faults.
#include "memory/patterns.h"
#include "warps/clusters.h"

// --- what is wrong with an access ----------------------------------------------------------------

// Whether a lane's bytes lie in a buffer; the slot keeps the buffer's bounds.
static bool find_buffer(const Context &context, Access access, Slot &slot, uint32_t lane)
{
    int64_t start = context.lane_addresses[lane], end = start + access.bounded_bytes();
    if (access.space == Space::SHARED) {
        slot.first = shared_base_of(context, context.lane_addresses[lane]);
        slot.end = slot.first + context.shared_bytes;
        return start >= slot.first && end <= slot.end;
    }
    if (context.lane_uppers[lane] != context.global_window)
        return false;
    uint32_t low = 0, high = context.buffer_count; // in ascending order
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (int64_t(context.buffers[middle].end) <= start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == context.buffer_count || start < int64_t(context.buffers[low].first) ||
        end > int64_t(context.buffers[low].end))
        return false;
    slot.first = int64_t(context.buffers[low].first);
    slot.end = int64_t(context.buffers[low].end);
    return true;
}

// Checks each lane. Returns a FaultCode.
static uint32_t check_lanes(Context &context, Access access, Slot &slot, uint32_t instruction,
                            uint32_t mask)
{
    bool global = access.space == Space::GLOBAL;
    for (uint32_t lane : Lanes{mask}) {
        uint64_t upper = global ? context.lane_uppers[lane] : 0;
        uint64_t address = context.lane_addresses[lane] | upper << 32;
        if (address % access.width != 0)
            return report_fault(context,
                                global ? FaultCode::GLOBAL_ALIGNMENT : FaultCode::SHARED_ALIGNMENT,
                                instruction, lane, address);
        if (!find_buffer(context, access, slot, lane))
            return report_fault(context,
                                global ? FaultCode::GLOBAL_BOUNDS : FaultCode::SHARED_BOUNDS,
                                instruction, lane, address);
    }
    return FaultCode::NONE;
}

// Stores the range of bases at which the slot's pattern lies in the slot's buffer.
static void keep_good_bases(Access access, Slot &slot)
{
    Pattern &pattern = pattern_of(slot);
    int64_t first = slot.first - pattern.lowest;
    int64_t last = slot.end - pattern.highest - access.bounded_bytes();
    bool none = last < first || pattern.low_bits % access.width != 0;
    pattern.first_base = none ? UINT64_MAX : uint64_t(first);
    pattern.more_bases = none ? 0 : uint64_t(last - first);
}

uint32_t check_access(Context &context, Access access, Slot &slot, uint32_t instruction,
                      uint32_t mask)
{
    uint32_t code = check_lanes(context, access, slot, instruction, mask);
    keep_good_bases(access, slot);
    return code;
}

// --- the pattern of an access --------------------------------------------------------------------

// The active lanes that share their address with another active lane.
static uint32_t overlapping_lanes(const uint32_t *deltas, uint32_t mask)
{
    uint32_t overlapping = 0;
    for (uint32_t lane : Lanes{mask}) {
        uint32_t same = lanes_equal(deltas, deltas[lane]) & mask;
        if (same & (same - 1))
            overlapping |= same;
    }
    return overlapping;
}

// Whether addresses ascend by `step` in each group of neighbouring lanes, which are several.
static bool ascend_in_groups(const uint32_t *deltas, uint32_t group, uint32_t step)
{
    return deltas[1] - deltas[0] == step && none_differs(FULL_MASK, [=](uint32_t lane) {
        return deltas[lane] - deltas[lane & -group] - lane % group * step;
    });
}

static uint32_t find_kind(Pattern &pattern, Access access)
{
    bool full = pattern.mask == FULL_MASK, words = access.width >= 4;
    bool distinct = !access.load &&
                    distinct_lanes(pattern.deltas, pattern.mask, WARP_LANES) == pattern.mask;
    for (pattern.group = WARP_LANES; full && pattern.group >= SMALLEST_GROUP; pattern.group /= 2) {
        bool all = pattern.group == WARP_LANES;
        if (words && (access.load || distinct) &&
            ascend_in_groups(pattern.deltas, pattern.group, access.width))
            return all ? PatternKind::CONTIGUOUS : PatternKind::CONTIGUOUS_GROUPS;
        if (words && access.load && ascend_in_groups(pattern.deltas, pattern.group, 0))
            return all ? PatternKind::BROADCAST : PatternKind::BROADCAST_GROUPS;
    }
    return distinct ? PatternKind::DISTINCT : PatternKind::GENERAL;
}

// Stores a pattern with its extent and kind.
static void learn(Context &context, Access access, Slot &slot, uint32_t base, uint32_t mask)
{
    Pattern &pattern = pattern_of(slot);
    pattern.serial = ++context.patterns_learned;
    pattern.mask = mask;
    pattern.lowest = pattern.highest = pattern.low_bits = 0; // the base is an active lane's address
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t delta = has(mask, lane) ? context.lane_addresses[lane] - base : 0;
        pattern.deltas[lane] = delta;
        pattern.low_bits |= delta;
        pattern.lowest = int32_t(delta) < pattern.lowest ? int32_t(delta) : pattern.lowest;
        pattern.highest = int32_t(delta) > pattern.highest ? int32_t(delta) : pattern.highest;
    }
    pattern.kind = find_kind(pattern, access);
    if (context.checked_state != nullptr && !access.atomic)
        pattern.overlapping = overlapping_lanes(pattern.deltas, mask);
    memset(pattern.costs, 0, sizeof pattern.costs);
    pattern.copy.source = 0;
    keep_good_bases(access, slot);
}

// At most 64 passes (a compare-and-swap in one bank) and 1024 bytes per access.
static void find_cost(Access access, const Pattern &pattern, uint32_t base_low, uint16_t *cost)
{
    cost[Cost::REQUESTS] = 1;
    bool global = access.space == Space::GLOBAL;
    uint32_t relative[WARP_LANES], start = global ? base_low : base_low % BANK_BYTES;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        relative[lane] = pattern.deltas[lane] + start;
    if (global)
        count_sectors(access, cost, relative, pattern.mask);
    else
        count_wavefronts(access, cost, relative, pattern.mask);
}

void count_access(Context &context, Access access, Slot &slot, uint32_t mask)
{
    uint32_t base = context.lane_addresses[lowest_lane(mask)], base_low = base % SECTOR_BYTES;
    Access anywhere = access; // the upper words are not part of the pattern
    anywhere.space = Space::SHARED;
    slot.current = place_of_pattern(context, mask);
    Pattern &pattern = pattern_of(slot);
    if (mask != pattern.mask || !repeats(context, anywhere, pattern, base, mask))
        learn(context, access, slot, base, mask);
    uint16_t *cost = pattern.costs[base_low];
    if (cost[Cost::REQUESTS] == 0)
        find_cost(access, pattern, base_low, cost);
    add_cost(access, slot, cost);
}

// --- the worst one -------------------------------------------------------------------------------

void keep_worst(const Context &context, const Warp &warp, Access access, Slot &slot, uint32_t mask,
                const uint16_t *cost, uint32_t rank)
{
    Worst &worst = slot.worst;
    worst.rank = rank;
    worst.mask = mask;
    worst.width = access.width;
    worst.flags = access.flags;
    worst.passes = cost[Cost::PASSES];
    worst.passes_ideal = cost[Cost::PASSES_IDEAL];
    worst.bytes = cost[Cost::BYTES];
    worst.block = uint32_t(linear_block(context));
    worst.warp = warp.index;
    memcpy(worst.addresses, context.lane_addresses, sizeof worst.addresses);
}
