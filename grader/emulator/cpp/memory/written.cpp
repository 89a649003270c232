// When blocks wrote the words of global memory by which they may wait for each other.
//
// Blocks run one after another. A block may therefore read at once what another block, which runs
// beside it on a GPU, writes later by its clock. The reader's clock then moves to that of the write,
// so that the length of a block contains its waits. If the other block wrote the word twice, the
// first value may have been enough: a scan's blocks write the sum of their own numbers before the sum
// of all; and a block that came last to a barrier may already have come to the next. A
// compare-and-swap waits for a lock that another operation releases; if all blocks swap, they update a
// number. Atomics that return a value run in the order of the clocks (residents.cpp), so only values
// of other operations reach them too early.
//
// Words of strong stores and of atomics have records. Ordinary stores, whose values blocks may see
// too, have records only where blocks read nearby; elsewhere a chunk of words has the last clock.
#include "memory/written.h"

constexpr uint32_t UNIT_SHIFT = 4; // clocks are kept in units of 16 cycles
// A warp that waits has read the word about this long ago.
constexpr uint32_t ROUND = 1024 >> UNIT_SHIFT;

// Records take five times the memory of the words, so a launch keeps the records of so many chunks,
// half of them for strong stores and atomics. If a block reads a chunk whose records are lost, and
// another block writes the chunk later, it might wait: then the launch has no time, and its counts
// have no value.
constexpr uint32_t MOST_CHUNKS = (64 << 20) / (CHUNK_WORDS * sizeof(uint32_t));

static uint32_t unit_of(int64_t clock) { return uint32_t(clock >> UNIT_SHIFT); }

static void wait_until(Context &context, Warp &warp, uint32_t clock)
{
    if (clock <= unit_of(warp.clock))
        return;
    int64_t seen = (int64_t(clock) << UNIT_SHIFT) + SEEN_CYCLES;
    context.awaited += seen - warp.clock;
    warp.clock = seen;
}

// --- chunks --------------------------------------------------------------------------------------

// Whether a write to the chunk has records of its words.
static bool keeps_words(Context &context, Chunk &chunk, bool strong)
{
    if (chunk.kept || chunk.lost || !(strong || chunk.read))
        return chunk.kept;
    chunk.kept = context.chunks_kept < (strong ? MOST_CHUNKS : MOST_CHUNKS / 2);
    chunk.lost = !chunk.kept;
    context.chunks_kept += chunk.kept;
    return chunk.kept;
}

static void write_chunk(Chunk &chunk, uint32_t self, uint32_t clock)
{
    if (chunk.block != self && clock < chunk.last) {
        chunk.others = larger(chunk.others, clock);
        return;
    }
    chunk.others = chunk.block != self ? chunk.last : chunk.others;
    chunk.last = larger(chunk.last, clock);
    chunk.block = self;
}

static void read_chunk(Context &context, Warp &warp, const Chunk &chunk, uint32_t self)
{
    uint32_t clock = chunk.block == self ? chunk.others : chunk.last;
    if (!chunk.lost)
        wait_until(context, warp, clock);
    else if (clock > unit_of(warp.clock))
        context.reads_lost = context.waited = 1;
}

// --- words ---------------------------------------------------------------------------------------

// Whether an atomic and the last write are of the same kind, compare-and-swaps or others that return
// a value: they do not wait for each other.
static bool is_of_same_kind(const Written &written, uint32_t flags)
{
    uint32_t kind = flags & Follow::READS ? Follow::READS : Follow::FETCHES;
    return flags & Follow::WRITES && written.flags & flags & kind;
}

static void see(Context &context, Warp &warp, const Written &written, uint32_t self, uint32_t flags)
{
    if (written.block == self || (is_of_same_kind(written, flags) && !warp.waits))
        return;
    bool first = written.before + ROUND >= unit_of(warp.clock) || !warp.waits;
    bool waits_for_first = first && written.before != 0 && !(flags & Follow::WRITES);
    wait_until(context, warp, waits_for_first ? written.before : written.last);
}

// A write of the same value is none: it may be an atomic that waits, like a failed compare-and-swap.
static void write(const Warp &warp, Written &written, uint32_t self, uint32_t value, uint32_t flags)
{
    if (written.block != 0 && written.value == value)
        return;
    written.value = value;
    written.flags = flags;
    written.before = written.block == self ? written.last : 0;
    written.last = unit_of(warp.clock);
    written.block = self;
}

// --- accesses ------------------------------------------------------------------------------------

// Whether all words of these lanes are in one chunk that no block wrote. Marks this chunk as read.
static bool reads_unwritten(const Context &context, uint32_t mask, uint32_t count)
{
    uint32_t lowest = UINT32_MAX, highest = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t word = context.lane_addresses[lane] / sizeof(uint32_t);
        lowest = smaller(lowest, has(mask, lane) ? word : UINT32_MAX);
        highest = larger(highest, has(mask, lane) ? word : 0);
    }
    uint32_t chunk = lowest / CHUNK_WORDS;
    if (mask == 0 || (highest + count - 1) / CHUNK_WORDS != chunk ||
        highest >= context.written_words)
        return false;
    Chunk &only = context.chunks[chunk];
    only.read = 1;
    return only.block == 0 && !only.kept;
}

void follow_access(Context &context, Warp &warp, uint32_t mask, uint32_t count, uint32_t flags)
{
    if (context.written == nullptr)
        return;
    bool writes = flags & Follow::WRITES, strong = flags & Follow::STRONG;
    // an atomic without a result waits for no value, unless the warp waits now
    bool reads = flags & (Follow::READS | Follow::FETCHES) || (writes && strong && warp.waits);
    if (!writes && reads_unwritten(context, mask, count))
        return;
    auto self = uint32_t(linear_block(context)) + 1;
    auto words = reinterpret_cast<const uint32_t *>(host_pointer(context.global_host));
    for (uint32_t lane : Lanes{mask}) {
        uint64_t first = context.lane_addresses[lane] / sizeof(uint32_t);
        for (uint64_t word = first; word < first + count && word < context.written_words; ++word) {
            Chunk &chunk = context.chunks[word / CHUNK_WORDS];
            Written &written = context.written[word];
            chunk.read |= reads;
            bool keeps = writes ? keeps_words(context, chunk, strong) : chunk.kept;
            if (reads && keeps && written.block != 0)
                see(context, warp, written, self, flags);
            else if (reads && chunk.block != 0)
                read_chunk(context, warp, chunk, self);
            if (writes && keeps)
                write(warp, written, self, words[word], flags);
            else if (writes)
                write_chunk(chunk, self, unit_of(warp.clock));
        }
    }
}

EXPORT void emulator_follow(Context *context, Warp *warp, uint32_t mask, uint32_t count,
                            uint32_t flags)
{
    follow_access(*context, *warp, mask, count, flags);
}
