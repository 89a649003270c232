// What the steps of traced blocks are on the whole: how often each instruction is executed, what
// its accesses ask for, and which sectors of the buffers they touch.
#include "timing.h"

namespace timing {

// --- block by block ------------------------------------------------------------------------------

static int64_t count_sectors(const Line *lines, const Access &access)
{
    int64_t sectors = 0;
    for (int64_t k = access.first; k < access.end; ++k)
        sectors += __builtin_popcount(uint32_t(lines[k].touched));
    return sectors;
}

// Count what one block does.
static void add_block(const Totals &totals, int64_t block)
{
    int64_t *executed = totals.executed + block * totals.instruction_count;
    int64_t end = totals.first[(block + 1) * totals.warps_per_block];
    for (int64_t n = totals.first[block * totals.warps_per_block]; n < end; ++n) {
        const Step &step = totals.steps[n];
        ++executed[step.code];
        if (step.access < 0)
            continue;
        const Access &access = totals.accesses[step.access];
        if (access.space == TraceWord::GLOBAL)
            totals.sectors[block] += count_sectors(totals.lines, access);
        else if (access.space == TraceWord::SHARED)
            totals.wavefronts[block] += access.wavefronts;
    }
}

static void add_up(const Totals &totals)
{
    for (int64_t block = 0; block < totals.block_count; ++block)
        add_block(totals, block);
}

// --- sectors of the buffers ----------------------------------------------------------------------

// What is known of a line, by the bits: the sectors that were loaded, those that were stored, and
// whether an atomic met it.
constexpr uint32_t STORED_SHIFT = LINE_SECTORS, ATOMIC = 1 << 2 * LINE_SECTORS;
constexpr uint32_t LINE_MASK = (1 << LINE_SECTORS) - 1;

// A line is touched: note what is new of it, in the region that holds it.
static void touch_line(const Touched &touched, const Line &line, int64_t kind)
{
    bool stores = kind == Kind::STORE || kind == Kind::ATOMIC;
    uint32_t sectors = uint32_t(line.touched) & LINE_MASK;
    uint32_t bits = sectors << (stores ? STORED_SHIFT : 0) | (kind == Kind::ATOMIC ? ATOMIC : 0);
    uint32_t fresh = bits & ~touched.known[line.number];
    if (stores)
        touched.stored_sectors[0] += __builtin_popcount(sectors);
    if (fresh == 0)
        return;
    touched.known[line.number] |= fresh;
    for (int64_t index = 0; index < touched.region_count; ++index) {
        Region &region = touched.regions[index];
        for (uint32_t sector = 0; sector < LINE_SECTORS; ++sector) {
            int64_t number = line.number * LINE_SECTORS + sector;
            bool inside = region.first_sector <= number && number < region.end_sector;
            region.loaded += inside && (fresh >> sector & 1);
            region.stored += inside && (fresh >> (STORED_SHIFT + sector) & 1);
        }
        bool inside = region.first_line <= line.number && line.number < region.end_line;
        region.atomic_lines += inside && (fresh & ATOMIC);
    }
}

static bool touches_memory(int64_t kind)
{
    return kind == Kind::LOAD || kind == Kind::COPY || kind == Kind::STORE || kind == Kind::ATOMIC;
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
