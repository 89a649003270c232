// The cost of an access: wavefronts of shared memory, sectors of global memory.
#pragma once

#include "warps/lanes.h"

enum class Space : uint8_t {
    GLOBAL = TraceWord::GLOBAL,
    SHARED = TraceWord::SHARED,
    LOCAL = TraceWord::LOCAL
};

// The operation of a memory instruction; `width`: bytes per lane.
struct Access {
    Space space;
    bool load, atomic;
    uint8_t width;
    uint32_t flags;

    bool is(uint32_t flag) const { return flags & flag; }
    // Bytes from the address that must lie in the buffer.
    uint32_t bounded_bytes() const { return is(AccessFlag::PART) ? 1 : width; }
    uint32_t words() const { return width < 4 ? 1 : width / 4; }
};

// The active lanes that are the first in their group of `group` neighbouring lanes with their unit.
uint32_t distinct_lanes(const uint32_t *units, uint32_t mask, uint32_t group);

// The pattern of the last access.
inline const Pattern &pattern_of(const Slot &slot) { return slot.patterns[slot.current]; }
inline Pattern &pattern_of(Slot &slot) { return slot.patterns[slot.current]; }

// Fills a Cost without its requests; `fewest`: the fewest possible passes.
inline void fill(uint16_t *cost, uint32_t passes, uint32_t fewest, uint32_t bytes)
{
    cost[Cost::PASSES] = uint16_t(passes);
    cost[Cost::PASSES_IDEAL] = uint16_t(smaller(passes, fewest));
    cost[Cost::BYTES] = uint16_t(bytes);
}

// The smallest number of units that hold `bytes` bytes.
inline uint32_t units_of(uint32_t bytes, uint32_t unit) { return (bytes + unit - 1) / unit; }

// Fill a Cost for a pattern of lane addresses. Addresses are relative to a base that is a multiple
// of the sector (global memory) or of the word (shared memory).
void count_sectors(Access access, uint16_t *cost, const uint32_t *addresses, uint32_t mask);
void count_wavefronts(Access access, uint16_t *cost, const uint32_t *addresses, uint32_t mask);
