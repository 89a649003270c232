// The pattern of an access: the lanes' addresses relative to the base, which is the address of the
// lowest active lane. Wavefronts, sectors and the data movement depend only on the pattern and the
// base modulo 32; an instruction's slot remembers its patterns.
#pragma once

#include "memory/counting.h"

// accesses.cpp: checks, counts, records and performs an access that is watched or new to its slot.
// Returns a FaultCode.
__attribute__((noinline)) uint32_t access_carefully(Context &context, Warp &warp, Access access,
                                                    uint32_t slot_index, uint32_t instruction,
                                                    uint32_t mask);

// Makes the pattern of lane_addresses the slot's current pattern, and counts the access.
void count_access(Context &context, Access access, Slot &slot, uint32_t mask);

// Checks that every lane's bytes are aligned and lie in a buffer, which the slot keeps. Returns a
// FaultCode.
uint32_t check_access(Context &context, Access access, Slot &slot, uint32_t instruction,
                      uint32_t mask);

// Whether a difference is 0 in all active lanes.
template <class Difference> HOT bool none_differs(uint32_t mask, Difference difference)
{
    uint32_t differing = 0;
    if (likely(mask == FULL_MASK)) {
        for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
            differing |= difference(lane);
    } else {
        for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
            differing |= difference(lane) & -(mask >> lane & 1);
    }
    return differing == 0;
}

// Whether the active lanes' addresses equal the pattern at a base; in global memory with the upper
// word of the memory window.
HOT bool repeats(const Context &context, Access access, const Pattern &pattern, uint32_t base,
                 uint32_t mask)
{
    const uint32_t *addresses = context.lane_addresses, *uppers = context.lane_uppers;
    const uint32_t *deltas = pattern.deltas, window = context.global_window;
    if (access.space == Space::GLOBAL)
        return none_differs(mask, [=](uint32_t lane) {
            return ((addresses[lane] - base) ^ deltas[lane]) | (uppers[lane] ^ window);
        });
    return none_differs(mask,
                        [=](uint32_t lane) { return (addresses[lane] - base) ^ deltas[lane]; });
}

HOT void add_cost(Access access, Slot &slot, const uint16_t *cost)
{
    if (access.is(AccessFlag::COPIED))
        return;
    slot.requests_total += cost[Cost::REQUESTS];
    slot.passes_total += cost[Cost::PASSES];
    slot.passes_ideal_total += cost[Cost::PASSES_IDEAL];
    slot.bytes_total += cost[Cost::BYTES];
}

// The passes of the access that was counted last.
inline uint32_t passes_of(const Context &context, const Slot &slot, uint32_t mask)
{
    uint32_t base = context.lane_addresses[lowest_lane(mask)];
    return pattern_of(slot).costs[base % SECTOR_BYTES][Cost::PASSES];
}

// Keeps the access that was counted last as its instruction's worst access.
void keep_worst(const Context &context, const Warp &warp, Access access, Slot &slot, uint32_t mask,
                const uint16_t *cost, uint32_t rank);

// The cost beyond the ideal: wavefronts, or bytes of sectors that no lane needs.
HOT uint32_t excess_of(Access access, const uint16_t *cost)
{
    if (access.space == Space::SHARED)
        return cost[Cost::PASSES] - cost[Cost::PASSES_IDEAL];
    uint32_t moved = cost[Cost::PASSES] * SECTOR_BYTES, used = cost[Cost::BYTES];
    return moved > used ? moved - used : 0;
}

// Only accesses that are new to their slot are examined: an access at the same place in its bank or
// sector costs the same. Of equal accesses the first stays, so that the result does not depend on
// the number of threads. copies.cpp counts the bank use of copies past the registers.
HOT void keep_worst(const Context &context, const Warp &warp, Access access, Slot &slot,
                    uint32_t mask)
{
    uint32_t base = context.lane_addresses[lowest_lane(mask)];
    const uint16_t *cost = pattern_of(slot).costs[base % SECTOR_BYTES];
    uint32_t rank = excess_of(access, cost);
    bool copied = access.space == Space::SHARED && access.is(AccessFlag::COPIED);
    if (unlikely(rank > slot.worst.rank) && !copied)
        keep_worst(context, warp, access, slot, mask, cost, rank);
}

// The place of a pattern in its slot: a hash of the distances of a few lanes.
HOT uint32_t place_of_pattern(const Context &context, uint32_t mask)
{
    const uint32_t *addresses = context.lane_addresses;
    uint32_t base = addresses[lowest_lane(mask)], hash = 0;
    for (uint32_t lane = 1; lane < WARP_LANES; lane *= 2)
        hash = (hash + addresses[lane] - base) * 0x9e3779b1; // golden ratio: mixes upwards
    return hash >> 16 & (PATTERNS - 1);
}

// Counts an access of the slot's current pattern if its base was counted before and lies in the
// checked range. False: nothing was done, and the access needs the slow path.
HOT bool count_known(const Context &context, Access access, Slot &slot, uint32_t mask)
{
    uint32_t base = context.lane_addresses[lowest_lane(mask)];
    const Pattern &pattern = pattern_of(slot);
    const uint16_t *cost = pattern.costs[base % SECTOR_BYTES];
    bool known = mask == pattern.mask && cost[Cost::REQUESTS] != 0 && base % access.width == 0 &&
                 base - pattern.first_base <= pattern.more_bases &&
                 repeats(context, access, pattern, base, mask);
    if (likely(known))
        add_cost(access, slot, cost);
    return known;
}
