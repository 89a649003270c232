// Lines in the caches of the simulated SM: its L1, and its share of the L2.
#pragma once

#include "timing/timing.h"

namespace timing {

// Spreads lines over the sets of a cache (Knuth's multiplicative hash); the hardware's hash is not
// published.
constexpr uint64_t HASH = 0x9E3779B1;

// The set of a line.
inline CacheLine *set_of(CacheLine *lines, int64_t count, int64_t tag)
{
    int64_t sets = count / WAYS, set = (int64_t(uint64_t(tag) * HASH) >> 20) % sets;
    return lines + (set < 0 ? set + sets : set) * WAYS;
}

// The line's entry in its set; null if absent.
inline CacheLine *find_line(CacheLine *set, int64_t tag)
{
    for (uint32_t way = 0; way < WAYS; ++way)
        if (set[way].tag == tag)
            return &set[way];
    return nullptr;
}

// The least recently used entry of a set.
inline CacheLine &find_oldest(CacheLine *set)
{
    CacheLine *oldest = set;
    for (uint32_t way = 1; way < WAYS; ++way)
        if (set[way].used < oldest->used)
            oldest = &set[way];
    return *oldest;
}

} // namespace timing
