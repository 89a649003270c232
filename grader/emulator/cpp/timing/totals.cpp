// Totals of the traced blocks: executions of each instruction, requests of its accesses, touched
// sectors of the buffers.
#include "timing/timing.h"

namespace timing {

// --- block by block ------------------------------------------------------------------------------

static int64_t count_sectors(const Line *lines, const Access &access)
{
    int64_t sectors = 0;
    for (int64_t k = access.first; k < access.end; ++k)
        sectors += count_sectors(lines[k].touched);
    return sectors;
}

// Counts one block.
static void add_block(const Totals &totals, int64_t block)
{
    int64_t *executed = totals.executed + block * totals.instruction_count;
    int64_t end = totals.first[(block + 1) * totals.warps_per_block];
    for (int64_t n = totals.first[block * totals.warps_per_block]; n < end; ++n) {
        const Step &step = totals.steps[n];
        ++executed[step.code];
        int64_t kind = totals.table[step.code].kind;
        if (step.access < 0 || kind == Kind::COPY || kind == Kind::PREFETCH)
            continue; // their counters differ from their times
        const Access &access = totals.accesses[step.access];
        if (access.space == TraceWord::GLOBAL)
            totals.sectors[block] += count_sectors(totals.lines, access);
        if (access.space == TraceWord::SHARED)
            totals.wavefronts[block] += access.wavefronts;
    }
}

static void add_up(const Totals &totals)
{
    for (int64_t block = 0; block < totals.block_count; ++block)
        add_block(totals, block);
}

// --- sectors of the buffers ----------------------------------------------------------------------

// Bits known of a line: loaded sectors, stored sectors, sectors changed by atomics; on a page's
// first line also whether the page was loaded or stored.
constexpr uint32_t LINE_MASK = (1 << LINE_SECTORS) - 1;
constexpr uint32_t STORED_SHIFT = LINE_SECTORS, UPDATED_SHIFT = 2 * LINE_SECTORS;
constexpr uint16_t LOADED_PAGE = 1 << 3 * LINE_SECTORS, STORED_PAGE = 2 * LOADED_PAGE;

static uint32_t count(uint32_t mask) { return uint32_t(__builtin_popcount(mask)); }

static Region *region_of(const Touched &touched, int64_t line)
{
    for (int64_t index = 0; index < touched.region_count; ++index)
        if (touched.regions[index].first_line <= line && line < touched.regions[index].end_line)
            return touched.regions + index;
    return nullptr;
}

// The partially stored sectors that no instruction reads.
static uint32_t partial_sectors(uint32_t known, uint32_t words)
{
    uint32_t read = known | known >> UPDATED_SHIFT;
    return known >> STORED_SHIFT & ~read & LINE_MASK & ~covered_sectors(words);
}

// Records the new facts of a line in its region. An atomic reads the sectors that it changes.
static void touch_line(const Touched &touched, const Line &line, int64_t kind)
{
    Region *region = region_of(touched, line.number);
    if (region == nullptr)
        return;
    bool updates = kind == Kind::ATOMIC, stores = kind == Kind::STORE || updates;
    uint32_t sectors = uint32_t(line.touched) & LINE_MASK, &words = touched.words[line.number];
    uint16_t &known = touched.known[line.number], before = known;
    uint32_t partial = partial_sectors(before, words);
    uint32_t read = before | before >> UPDATED_SHIFT | covered_sectors(words);
    uint32_t pairs = pairs_of(before & LINE_MASK);
    if (stores)
        region->stored += count(sectors & ~(before >> STORED_SHIFT));
    else
        region->loaded_pairs += count(pairs_of(sectors) & ~pairs);
    region->updated += updates ? count(sectors & ~read) : 0;
    words |= kind == Kind::STORE ? line.words : 0;
    known |= sectors << (stores ? STORED_SHIFT : 0) | (updates ? sectors << UPDATED_SHIFT : 0);
    uint32_t still = partial_sectors(known, words);
    region->partial += int64_t(count(still)) - int64_t(count(partial));
    region->partial_lines += int64_t(still != 0) - int64_t(partial != 0);
    uint16_t &page = touched.known[line.number - line.number % PAGE_LINES];
    uint16_t bit = stores ? STORED_PAGE : LOADED_PAGE;
    (stores ? region->stored_pages : region->loaded_pages) += (page & bit) == 0;
    page |= bit;
}

static bool touches_memory(int64_t kind)
{
    return kind == Kind::LOAD || kind == Kind::COPY || kind == Kind::STORE ||
           kind == Kind::ATOMIC || kind == Kind::PREFETCH;
}

static void touch(const Touched &touched)
{
    for (int64_t n = 0; n < touched.step_count; ++n) {
        const Step &step = touched.steps[n];
        int64_t kind = touched.table[step.code].kind;
        if (step.access < 0 || !touches_memory(kind))
            continue;
        const Access &access = touched.accesses[step.access];
        if (access.space != TraceWord::GLOBAL)
            continue;
        for (int64_t k = access.first; k < access.end; ++k)
            touch_line(touched, touched.lines[k], kind);
    }
}

} // namespace timing

EXPORT void emulator_add_up(const timing::Totals *totals) { timing::add_up(*totals); }
EXPORT void emulator_touch(const timing::Touched *touched) { timing::touch(*touched); }
