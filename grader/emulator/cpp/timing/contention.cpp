// Conflicts of the traced blocks' atomics: at slices of the L2 and at words.
//
// Lines that several blocks touch count as shared by all blocks. Lines that only one block touches
// stand for a part of their buffer: the other blocks touch the rest of it likewise.
#include "timing/streams.h"

namespace timing {

constexpr uint32_t SEVERAL = ~uint32_t(0);
// A buffer of at least so many lines counts as spread evenly over all slices.
constexpr int64_t EVEN_LINES = 32768;

// The L2 slice of a line. The hardware's hash is not published. By a map of the lines of an H200
// that slow each other's atomics down, two slices alternate within a KB in chunks of 256 bytes,
// each of 16 consecutive KBs has its own pair of slices, and larger distances are distributed at
// random.
static int64_t slice_of(const ContentionSums &sums, int64_t line)
{
    constexpr int64_t CHUNK_LINES = 2, PAIR_LINES = 8, RUN_PAIRS = 16;
    constexpr uint64_t HASH = 0x9E3779B97F4A7C15;
    int64_t place = line / PAIR_LINES;
    uint64_t mixed = uint64_t(place / RUN_PAIRS) * HASH;
    mixed = (mixed ^ mixed >> 32) * HASH >> 33;
    uint64_t pair = (mixed + uint64_t(place % RUN_PAIRS)) % uint64_t(sums.slice_count / 2);
    int64_t first = int64_t(uint64_t(place) * HASH >> 63);
    return int64_t(pair) * 2 + (line / CHUNK_LINES + first) % 2;
}

// The index of the buffer that holds a line; -1 for none.
static int64_t region_of(const ContentionSums &sums, int64_t line)
{
    Region *found = region_of(sums.regions, sums.region_count, line);
    return found == nullptr ? -1 : found - sums.regions;
}

// Records that a block's atomic touches a line.
static void visit(const ContentionSums &sums, const Line &line, uint32_t block)
{
    uint32_t &visitor = sums.visitors[line.number];
    visitor = visitor == 0 || visitor == block ? block : SEVERAL;
    uint16_t &known = sums.known[line.number];
    int64_t region = region_of(sums, line.number), before = count_pairs(known);
    known |= uint16_t(line.touched);
    if (region >= 0)
        sums.pairs[region] += count_pairs(known) - before;
}

// Adds the turns of a line that one block touched: to its whole buffer, or to its own slice outside
// of buffers.
static void add_alone(const ContentionSums &sums, const Line &line, double turns)
{
    int64_t region = region_of(sums, line.number);
    if (region >= 0)
        sums.alone[region] += turns;
    else
        sums.turns[slice_of(sums, line.number)] += turns;
}

// Adds the pairs of sectors that the only block at a line visits again. `known`: those that it has
// visited so far.
static void add_repeated(const ContentionSums &sums, const Line &line, uint32_t &known)
{
    int64_t region = region_of(sums, line.number), before = count_pairs(known);
    known |= uint32_t(line.touched);
    if (region >= 0)
        sums.repeated[region] += count_pairs(uint32_t(line.touched)) - count_pairs(known) + before;
}

// An atomic takes turns of the line's slice. Float additions to one word are serialised.
static void add_contended(ContentionSums &sums, const Line &line, int64_t atomic)
{
    double turns = turns_of(line, atomic);
    sums.visits += 1;
    sums.pair_visits += count_pairs(uint32_t(line.touched));
    uint32_t &chain = sums.chains[line.number];
    if (sums.visitors[line.number] != SEVERAL && sums.streams->block_count > 1) {
        add_alone(sums, line, turns);
        add_repeated(sums, line, chain);
        return;
    }
    sums.turns[slice_of(sums, line.number)] += turns;
    if (atomic == FLOAT_ATOMIC) {
        chain += line.chain;
        sums.longest_chain = max(sums.longest_chain, int64_t(chain));
    } else if (atomic == SWAP_ATOMIC && line.words != 0) { // one lane per word succeeds
        sums.swapped[line.number] |= line.words;
        chain += uint32_t(__builtin_popcount(line.words));
    }
}

// Adds the number of swaps at the words of a swap; if no other block touches them, only its own.
static void add_swaps(ContentionSums &sums, const Line &line)
{
    double mine = __builtin_popcount(line.words), chain = sums.chains[line.number];
    uint32_t words = sums.swapped[line.number];
    sums.swaps += mine;
    sums.contended_swaps += mine * (words == 0 ? 1.0 : chain / __builtin_popcount(words));
}

// Spreads the turns of single blocks at a buffer over its lines.
static void spread(const ContentionSums &sums, const Region &region, double turns)
{
    int64_t lines = region.end_line - region.first_line;
    if (turns == 0.0)
        return;
    if (lines >= EVEN_LINES) {
        for (int64_t slice = 0; slice < sums.slice_count; ++slice)
            sums.turns[slice] += turns / double(sums.slice_count);
        return;
    }
    for (int64_t line = region.first_line; line < region.end_line; ++line)
        sums.turns[slice_of(sums, line)] += turns / double(lines);
}

// Counts the compare-and-swaps that succeed: at most one lane per word. A lane that fails tries
// again: of two tries in sequence by one instruction of a warp, the lanes of the second failed in
// the first.
static void count_successes(ContentionSums &sums)
{
    const CodeRow *last = nullptr;
    int64_t of_warp = -1;
    double lanes = 0.0, words = 0.0;
    for_accesses(*sums.streams, [&](const Access &access, const CodeRow &row, int64_t warp,
                                    int64_t) {
        if (row.atomic != SWAP_ATOMIC || access.space != TraceWord::GLOBAL)
            return;
        if (last == &row && of_warp == warp && access.lanes <= lanes)
            sums.successes += min(lanes - access.lanes, words) - min(lanes, words);
        last = &row, of_warp = warp, lanes = access.lanes, words = 0.0;
        for (int64_t k = access.first; k < access.end; ++k)
            words += __builtin_popcount(sums.streams->lines[k].words);
        sums.successes += min(lanes, words);
    });
}

EXPORT void emulator_find_contention(ContentionSums &sums)
{
    const Stream &streams = *sums.streams;
    for_lines(streams, [&](const Line &line, const CodeRow &row, int64_t warp, int64_t) {
        if (row.atomic != 0)
            visit(sums, line, uint32_t(warp / streams.warps_per_block + 1));
    });
    for_lines(streams, [&](const Line &line, const CodeRow &row, int64_t, int64_t) {
        if (row.atomic != 0)
            add_contended(sums, line, row.atomic);
    });
    for_lines(streams, [&](const Line &line, const CodeRow &row, int64_t, int64_t) {
        if (row.atomic == SWAP_ATOMIC)
            add_swaps(sums, line);
    });
    count_successes(sums);
    for (int64_t index = 0; index < sums.region_count; ++index)
        spread(sums, sums.regions[index], sums.alone[index]);
}

} // namespace timing
