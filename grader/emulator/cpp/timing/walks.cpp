// Finds lines that several traced blocks load, and whether they load them at the same time.
#include "timing/timing.h"

namespace timing {

// Blocks load a line together if they have executed the same number of steps, up to a difference of
// NEAR_STEPS or of one part in NEAR_PART: they start together.
constexpr int64_t NEAR_STEPS = 64, NEAR_PART = 16;

static bool are_near(int64_t place, int64_t other)
{
    int64_t apart = place < other ? other - place : place - other;
    return apart <= max(NEAR_STEPS, max(place, other) / NEAR_PART);
}

// Records that a visitor loads sectors of a line after `place` steps of one of its warps.
static void load_line(Walks &walks, const Line &line, uint32_t self, int64_t place)
{
    uint32_t &visitor = walks.visitors[line.number], &first = walks.places[line.number];
    uint16_t &known = walks.known[line.number];
    if (visitor != self) {
        visitor = self;
        known = 0;
        walks.reloaded += first != 0;
        walks.together += first != 0 && are_near(place, int64_t(first) - 1);
        first = first != 0 ? first : uint32_t(place) + 1;
    }
    int64_t before = count_pairs(known);
    known |= uint16_t(line.touched);
    walks.distinct += count_pairs(known) - before;
}

static void follow_warp(Walks &walks, int64_t begin, int64_t end, uint32_t self)
{
    for (int64_t n = begin; n < end; ++n) {
        const Step &step = walks.steps[n];
        int64_t kind = walks.table[step.code].kind;
        bool reads = kind == Kind::LOAD || kind == Kind::COPY || kind == Kind::PREFETCH;
        if (step.access < 0 || !reads)
            continue;
        const Access &access = walks.accesses[step.access];
        for (int64_t k = access.first; access.space == TraceWord::GLOBAL && k < access.end; ++k)
            load_line(walks, walks.lines[k], self, n - begin);
    }
}

static void follow(Walks &walks)
{
    for (int64_t warp = 0; warp < walks.block_count * walks.warps_per_block; ++warp) {
        int64_t own = warp / (walks.warps_per_block * walks.at_once);
        uint32_t visitor = uint32_t(walks.first_visitor + own + 1);
        follow_warp(walks, walks.first[warp], walks.first[warp + 1], visitor);
    }
}

} // namespace timing

EXPORT void emulator_follow_walks(timing::Walks *walks) { timing::follow(*walks); }
