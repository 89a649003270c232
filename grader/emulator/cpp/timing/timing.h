// The timing model's simulation of one SM: what its parts share. The records come from
// timing/timing_records.py. Times are in cycles.
#pragma once

#include "warps/lanes.h"

namespace timing {

// Lines of local memory are numbered from here on, apart from those of global memory.
constexpr int64_t LOCAL_LINES = int64_t(1) << 40;

inline double max(double a, double b) { return a < b ? b : a; }
inline double min(double a, double b) { return b < a ? b : a; }
inline int64_t max(int64_t a, int64_t b) { return a < b ? b : a; }

constexpr uint32_t SECTOR_WORDS = SECTOR_BYTES / BANK_BYTES;

// The sectors in a mask of a line's.
inline int64_t count_sectors(int64_t mask)
{
    return __builtin_popcount(uint32_t(mask) & ((1 << LINE_SECTORS) - 1));
}

// The pairs of sectors of a line of which one is in a mask.
inline uint32_t pairs_of(uint32_t sectors)
{
    constexpr uint32_t ALL_PAIRS = 0b0101;
    return (sectors | sectors >> 1) & ALL_PAIRS;
}
inline int64_t count_pairs(uint32_t sectors) { return __builtin_popcount(pairs_of(sectors)); }

// The sectors of a line all of whose words are in the mask.
inline uint32_t covered_sectors(uint32_t words)
{
    constexpr uint32_t ALL = (1 << SECTOR_WORDS) - 1;
    uint32_t sectors = 0;
    for (uint32_t sector = 0; sector < LINE_SECTORS; ++sector)
        sectors |= uint32_t((words >> SECTOR_WORDS * sector & ALL) == ALL) << sector;
    return sectors;
}

// Of a turn of a slice of the L2, what an atomic takes that accesses at least so many words of a
// sector: an H200 takes 0.58 ns for all of them, 0.6 ns where seven in eight are met at random, and
// 0.73 ns for single ones.
constexpr double DENSE_TURN = 0.81;
constexpr uint32_t DENSE_WORDS = SECTOR_WORDS / 2;

// Turns for a sector of a compare-and-swap of several words: each lane brings two operands (an H200
// takes 1.2 ns for a sector of them, however many are of them, and 0.75 ns for a lane alone).
constexpr double SWAP_TURNS = 1.65;

// The turns that a line's slice takes for an atomic of this kind.
inline double turns_of(const Line &line, int64_t atomic)
{
    if (atomic == SWAP_ATOMIC)
        return double(line.rounds) * (__builtin_popcount(line.words) > 1 ? SWAP_TURNS : 1.0);
    int64_t dense = 0;
    for (uint32_t words = line.words; words != 0; words >>= SECTOR_WORDS)
        dense += __builtin_popcount(words & ((1 << SECTOR_WORDS) - 1)) >= int(DENSE_WORDS);
    return double(line.rounds) - (1.0 - DENSE_TURN) * double(dense);
}

inline bool is_among(const int64_t *numbers, int32_t count, int64_t number)
{
    while (count > 0)
        if (numbers[--count] == number)
            return true;
    return false;
}

// When an instruction is done, and when it has read its registers.
struct Ends {
    double done, read;
};

// An instruction that is no access passes the load/store unit, so often; returns when it has.
double pass_queue(const SM &sm, double passes, double t);
// The memory access `index` of a warp, -1 where no lane is active.
Ends access_memory(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t);

// Whether instructions of a kind hold up their warp, and until when (timing_waits.cpp).
bool holds_up(int64_t kind);
double end_wait(const SM &sm, Warp &warp, int64_t kind, int64_t access, double t);
// When a line of instructions is there that a warp comes to.
double fetch_code(const SM &sm, int64_t line, double t);

// What an SM with a `profile` is told of its warps (timing_profile.cpp): that one starts, or has
// issued its last instruction at `t`;
void profile_start(const SM &sm, const Warp &warp);
void profile_end(const SM &sm, double t);
// that an instruction is going to set its scoreboards;
void profile_setter(const SM &sm, const Warp &warp, const CodeRow &row, Ends ends);
// that what its next instruction waits for is known, whose stall count is `counted` to a cycle;
void profile_next(const SM &sm, const Warp &warp, double counted);
// that a barrier lets it go on at `t`;
void profile_release(const SM &sm, const Warp &warp, double t);
// and that a sub-partition, whose `units` are free from these cycles on, has chosen a warp at `t`,
// or none (-1), whose instruction is issued `at` a cycle.
void profile_turn(const SM &sm, int64_t number, const double *units, int64_t chosen, double t,
                  double at);

} // namespace timing
