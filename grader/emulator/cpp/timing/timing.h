// Shared parts of the timing model's simulation of one SM. timing/timing_records.py defines the
// records. Times are in cycles.
#pragma once

#include "warps/lanes.h"

namespace timing {

// The first number of local memory's lines, above the numbers of global memory.
constexpr int64_t LOCAL_LINES = int64_t(1) << 40;

inline double max(double a, double b) { return a < b ? b : a; }
inline double min(double a, double b) { return b < a ? b : a; }
inline int64_t max(int64_t a, int64_t b) { return a < b ? b : a; }

constexpr uint32_t SECTOR_WORDS = SECTOR_BYTES / BANK_BYTES;

// The number of sectors in a line's mask.
inline int64_t count_sectors(int64_t mask)
{
    return __builtin_popcount(uint32_t(mask) & ((1 << LINE_SECTORS) - 1));
}

// The pairs of sectors of which at least one is in the mask.
inline uint32_t pairs_of(uint32_t sectors)
{
    constexpr uint32_t ALL_PAIRS = 0b0101;
    return (sectors | sectors >> 1) & ALL_PAIRS;
}
inline int64_t count_pairs(uint32_t sectors) { return __builtin_popcount(pairs_of(sectors)); }

// The sectors whose words are all in the mask.
inline uint32_t covered_sectors(uint32_t words)
{
    constexpr uint32_t ALL = (1 << SECTOR_WORDS) - 1;
    uint32_t sectors = 0;
    for (uint32_t sector = 0; sector < LINE_SECTORS; ++sector)
        sectors |= uint32_t((words >> SECTOR_WORDS * sector & ALL) == ALL) << sector;
    return sectors;
}

// The part of an L2 slice's turn for an atomic on at least DENSE_WORDS words of a sector: an H200
// takes 0.58 ns for all words, 0.6 ns for seven in eight at random, and 0.73 ns for single words.
constexpr double DENSE_TURN = 0.81;
constexpr uint32_t DENSE_WORDS = SECTOR_WORDS / 2;

// Turns of a compare-and-swap on several words of a sector: each lane has two operands (an H200
// takes 1.2 ns per sector for any number of lanes, and 0.75 ns for a single lane).
constexpr double SWAP_TURNS = 1.65;

// The turns of the line's slice for an atomic of this kind.
inline double turns_of(const Line &line, int64_t atomic)
{
    if (atomic == SWAP_ATOMIC)
        return double(line.rounds) * (__builtin_popcount(line.words) > 1 ? SWAP_TURNS : 1.0);
    int64_t dense = 0;
    for (uint32_t words = line.words; words != 0; words >>= SECTOR_WORDS)
        dense += __builtin_popcount(words & ((1 << SECTOR_WORDS) - 1)) >= int(DENSE_WORDS);
    return double(line.rounds) - (1.0 - DENSE_TURN) * double(dense);
}

// Whether instructions of a kind access global or local memory.
inline bool is_global(int64_t kind)
{
    return kind == Kind::LOAD || kind == Kind::STORE || kind == Kind::ATOMIC ||
           kind == Kind::COPY || kind == Kind::PREFETCH || kind == Kind::SURFACE_STORE;
}

inline bool is_bulk(int64_t kind) { return kind == Kind::BULK_LOAD || kind == Kind::BULK_STORE; }

// Whether instructions of a kind bring data of global memory to the SM.
inline bool loads(int64_t kind)
{
    return kind == Kind::LOAD || kind == Kind::COPY || kind == Kind::PREFETCH ||
           kind == Kind::BULK_LOAD || kind == Kind::TEXTURE;
}

inline bool is_among(const int64_t *numbers, int32_t count, int64_t number)
{
    while (count > 0)
        if (numbers[--count] == number)
            return true;
    return false;
}

// The cycles at which an instruction completes and at which it has read its registers.
struct Ends {
    double done, read;
};

// Passes the queue of the load/store unit for an instruction without an access; returns the end.
double pass_queue(const SM &sm, double passes, double t);
// Performs a warp's memory access `index`; -1: no active lane.
Ends access_memory(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t);
// Reads texels in the texture unit.
Ends read_texture(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t);

// A bulk copy's sectors of a line, at cycle `begin` of its unit; returns the arrival of loaded data.
double move_bulk(const SM &sm, const CodeRow &row, const Line &line, int64_t tag, double begin,
                 double t);
// The number of a traced access's line on this SM: local lines depend on the warp's place.
int64_t tag_of(const SM &sm, const Warp &warp, int64_t number);

// objects.cpp: performs an operation on barrier objects, or a bulk copy. A warp that has to wait for a phase has
// `awaited` set; the end of the phase sets it to RELEASED, and the SM's `released`.
// A warp that waits for the other blocks of the grid has OTHER_BLOCKS.
constexpr int64_t NO_OBJECT = 0, RELEASED = -1, OTHER_BLOCKS = -2;
Ends change_objects(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t);
Ends await_phase(const SM &sm, Warp &warp, int64_t index, double t);
Ends copy_bulk(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t);

// waits.cpp: whether instructions of a kind delay their warp, and until when.
bool holds_up(int64_t kind);
double end_wait(const SM &sm, Warp &warp, int64_t kind, int64_t access, double t);
// The cycle at which a line of instructions has been fetched.
double fetch_code(const SM &sm, int64_t line, double t);

// profile.cpp, for an SM with a `profile`: a warp starts, or has issued its last instruction at
// `t`.
void profile_start(const SM &sm, const Warp &warp);
void profile_end(const SM &sm, double t);
// An instruction will set its scoreboards.
void profile_setter(const SM &sm, const Warp &warp, const CodeRow &row, Ends ends);
// The dependencies of a warp's next instruction are known; its stall count ends at cycle `counted`.
void profile_next(const SM &sm, const Warp &warp, double counted);
// A barrier releases the warp at `t`.
void profile_release(const SM &sm, const Warp &warp, double t);
// A sub-partition whose `units` are free at these cycles has chosen a warp at `t` (-1: none), which
// issues at cycle `at`.
void profile_turn(const SM &sm, int64_t number, const double *units, int64_t chosen, double t,
                  double at);

} // namespace timing
