// Finds lines that several traced blocks load, and whether they load them at the same time.
#include "timing/streams.h"

namespace timing {

// Blocks load a line together if they have executed the same number of steps, up to a difference of
// NEAR_STEPS or of one part in NEAR_PART: they start together.
constexpr int64_t NEAR_STEPS = 64, NEAR_PART = 16;

// Loads of neighbouring SMs are merged if the same warp of each block makes them after nearly the
// same number of steps. Otherwise blocks that read a small table at random would seem to load it
// together.
constexpr int64_t MERGED_STEPS = 16;

static int64_t steps_between(int64_t place, int64_t other)
{
    return place < other ? other - place : place - other;
}

static bool are_near(int64_t place, int64_t other)
{
    return steps_between(place, other) <= max(NEAR_STEPS, max(place, other) / NEAR_PART);
}

// Records that a visitor loads sectors of a line after `place` steps of a warp of a block.
static void load_line(Walks &walks, const Line &line, uint32_t self, uint8_t warp, int64_t place)
{
    uint8_t &first_warp = walks.warps[line.number];
    uint32_t &visitor = walks.visitors[line.number], &first = walks.places[line.number];
    uint16_t &known = walks.known[line.number];
    provide_page(visitor);
    provide_page(first);
    provide_page(known);
    if (visitor != self) {
        visitor = self;
        known = 0;
        ++walks.loaded;
        walks.reloaded += first != 0;
        walks.together += first != 0 && are_near(place, int64_t(first) - 1);
        walks.merged += first != 0 && first_warp == warp &&
                        steps_between(place, int64_t(first) - 1) <= MERGED_STEPS;
        first_warp = first != 0 ? first_warp : warp;
        first = first != 0 ? first : uint32_t(place) + 1;
    }
    int64_t before = count_pairs(known);
    known |= uint16_t(line.touched);
    walks.distinct += count_pairs(known) - before;
}

EXPORT void emulator_follow_walks(Walks &walks)
{
    int64_t warps = walks.streams->warps_per_block * walks.at_once; // of a visitor
    for_lines(*walks.streams, [&](const Line &line, const CodeRow &row, int64_t warp, int64_t n) {
        if (loads(row.kind))
            load_line(walks, line, uint32_t(walks.first_visitor + warp / warps + 1),
                      uint8_t(warp % walks.streams->warps_per_block), n);
    });
}

} // namespace timing
