// The sectors of the buffers that the traced blocks touch.
#include "timing/streams.h"

namespace timing {

// Bits known of a line: loaded sectors, stored sectors, sectors changed by atomics; on a page's
// first line also whether the page was loaded or stored.
constexpr uint32_t LINE_MASK = (1 << LINE_SECTORS) - 1;
constexpr uint32_t STORED_SHIFT = LINE_SECTORS, UPDATED_SHIFT = 2 * LINE_SECTORS;
constexpr uint16_t LOADED_PAGE = 1 << 3 * LINE_SECTORS, STORED_PAGE = 2 * LOADED_PAGE;

static uint32_t count(uint32_t mask) { return uint32_t(__builtin_popcount(mask)); }

// The partially stored sectors that no instruction reads.
static uint32_t partial_sectors(uint32_t known, uint32_t words)
{
    uint32_t read = known | known >> UPDATED_SHIFT;
    return known >> STORED_SHIFT & ~read & LINE_MASK & ~covered_sectors(words);
}

// Records the new facts of a line in its region. An atomic reads the sectors that it changes.
static void touch_line(const Touched &touched, const Line &line, int64_t kind)
{
    Region *region = region_of(touched.regions, touched.region_count, line.number);
    if (region == nullptr)
        return;
    bool updates = kind == Kind::ATOMIC;
    bool stores = kind == Kind::STORE || kind == Kind::SURFACE_STORE ||
                  kind == Kind::BULK_STORE || updates;
    uint32_t sectors = uint32_t(line.touched) & LINE_MASK, &words = touched.words[line.number];
    provide_page(words);
    uint16_t &known = touched.known[line.number];
    provide_page(known);
    uint32_t before = known;
    uint32_t partial = partial_sectors(before, words);
    uint32_t read = before | before >> UPDATED_SHIFT | covered_sectors(words);
    uint32_t pairs = pairs_of(before & LINE_MASK);
    if (stores)
        region->stored += count(sectors & ~(before >> STORED_SHIFT));
    else {
        uint32_t fresh = pairs_of(sectors) & ~pairs;
        region->loaded_pairs += count(fresh);
        region->loaded_first += count(sectors & (fresh | fresh << 1));
    }
    region->updated += updates ? count(sectors & ~read) : 0;
    words |= stores && !updates ? line.words : 0;
    known |= sectors << (stores ? STORED_SHIFT : 0) | (updates ? sectors << UPDATED_SHIFT : 0);
    uint32_t still = partial_sectors(known, words);
    region->partial += int64_t(count(still)) - int64_t(count(partial));
    region->partial_lines += int64_t(still != 0) - int64_t(partial != 0);
    uint16_t &page = touched.known[line.number - line.number % PAGE_LINES];
    uint16_t bit = stores ? STORED_PAGE : LOADED_PAGE;
    (stores ? region->stored_pages : region->loaded_pages) += (page & bit) == 0;
    page |= bit;
}

EXPORT void emulator_touch(const Touched &touched)
{
    for_lines(*touched.streams, [&](const Line &line, const CodeRow &row, int64_t, int64_t) {
        if (is_global(row.kind) || is_bulk(row.kind) || loads(row.kind))
            touch_line(touched, line, row.kind);
    });
}

} // namespace timing
