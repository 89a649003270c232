// When blocks wrote the words of global memory by which they may wait for each other: the clocks of
// strong stores and of atomics.
//
// Blocks run one after another. A block may therefore read at once what another block, which runs
// beside it on a GPU, writes later by its clock. The reader's clock then moves to that of the write,
// so that the length of a block contains its waits. If the other block wrote the word twice, the
// first value may have been enough: a scan's blocks write the sum of their own numbers before the sum
// of all; and a block that came last to a barrier may already have come to the next. A
// compare-and-swap waits for a lock that another operation releases; if all blocks swap, they update a
// number.
#include "warps/lanes.h"

constexpr uint32_t UNIT_SHIFT = 4; // clocks are kept in units of 16 cycles
// A warp that waits has read the word about this long ago.
constexpr uint32_t ROUND = 1024 >> UNIT_SHIFT;

// Records take five times the memory of the words, so a launch keeps this many chunks of records. If
// a block reads a chunk whose writes are lost, it might wait for them: then the launch has no time,
// and its counts have no value.
constexpr uint32_t MOST_CHUNKS = (64 << 20) / (WRITTEN_CHUNK * sizeof(uint32_t));

enum Chunk : uint8_t { UNWRITTEN, KEPT, LOST };

static bool is_followed(Context &context, uint64_t word, bool reads, bool writes)
{
    uint8_t &chunk = context.written_chunks[word / WRITTEN_CHUNK];
    if (chunk == Chunk::UNWRITTEN && writes) {
        chunk = context.chunks_kept < MOST_CHUNKS ? Chunk::KEPT : Chunk::LOST;
        context.chunks_kept += chunk == Chunk::KEPT;
    }
    if (chunk == Chunk::LOST && reads)
        context.reads_lost = context.waited = 1;
    return chunk == Chunk::KEPT;
}

static uint32_t unit_of(int64_t clock) { return uint32_t(clock >> UNIT_SHIFT); }

static void see(Context &context, Warp &warp, const Written &written, uint32_t self, bool lock)
{
    if (written.block == 0 || written.block == self || (lock && written.swapped && !warp.waits))
        return;
    uint32_t now = unit_of(warp.clock);
    bool first = written.before + ROUND >= now || !warp.waits;
    uint32_t clock = first && written.before != 0 && !lock ? written.before : written.last;
    if (clock <= now)
        return;
    int64_t seen = (int64_t(clock) << UNIT_SHIFT) + SEEN_CYCLES;
    context.awaited += seen - warp.clock;
    warp.clock = seen;
}

// A write of the same value is none: it may be an atomic that waits, like a failed compare-and-swap.
static void write(const Warp &warp, Written &written, uint32_t self, uint32_t value, bool swaps)
{
    if (written.block != 0 && written.value == value)
        return;
    written.value = value;
    written.swapped = swaps;
    written.before = written.block == self ? written.last : 0;
    written.last = unit_of(warp.clock);
    written.block = self;
}

// After an access to `count` words at lane_addresses that other blocks may read or have written.
// `reads`: a load or a compare-and-swap. Other atomics wait for no value, unless the warp waits now.
EXPORT void emulator_follow_writes(Context *context, Warp *warp, uint32_t mask, uint32_t count,
                                   uint32_t reads, uint32_t writes)
{
    if (context->written == nullptr)
        return;
    auto self = uint32_t(linear_block(*context)) + 1;
    auto words = reinterpret_cast<const uint32_t *>(host_pointer(context->global_host));
    bool sees = reads != 0 || warp->waits;
    for (uint32_t lane : Lanes{mask}) {
        uint64_t first = context->lane_addresses[lane] / sizeof(uint32_t);
        for (uint64_t word = first; word < first + count; ++word) {
            if (word >= context->written_words || !is_followed(*context, word, sees, writes != 0))
                continue;
            if (sees)
                see(*context, *warp, context->written[word], self, writes != 0);
            if (writes != 0)
                write(*warp, context->written[word], self, words[word], reads != 0);
        }
    }
}
