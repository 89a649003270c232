// Where lines lie in the caches of the simulated SM: its L1, and its share of the L2.
#pragma once

#include "timing/timing.h"

namespace timing {

// Spreads lines over the sets of a cache (Knuth's multiplicative hash): the hardware's own is not
// published.
constexpr uint64_t HASH = 0x9E3779B1;

// The set of a cache that a line belongs to.
inline CacheLine *set_of(CacheLine *lines, int64_t count, int64_t tag)
{
    int64_t sets = count / WAYS, set = (int64_t(uint64_t(tag) * HASH) >> 20) % sets;
    return lines + (set < 0 ? set + sets : set) * WAYS;
}

// A line in its set, null where it is not.
inline CacheLine *find_line(CacheLine *set, int64_t tag)
{
    for (uint32_t way = 0; way < WAYS; ++way)
        if (set[way].tag == tag)
            return &set[way];
    return nullptr;
}

// The place of the set that was not used for longest.
inline CacheLine &find_oldest(CacheLine *set)
{
    CacheLine *oldest = set;
    for (uint32_t way = 1; way < WAYS; ++way)
        if (set[way].used < oldest->used)
            oldest = &set[way];
    return *oldest;
}

} // namespace timing
