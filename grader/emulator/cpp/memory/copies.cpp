// Wavefronts, sectors and bytes of asynchronous copies to shared memory (cp.async), as Nsight
// Compute counts them on an H100. The rules are derived from single copies; tests/data/truth has a
// part of them. Compiled kernels call this if a warp's copy differs from its last copy.
#include "memory/counting.h"

// The lower words of the lanes' addresses; bytes per lane.
struct Ends {
    const uint32_t *sources, *targets;
    uint32_t width;
};

// The lanes of a mask whose values in both rows equal a lane's values.
static uint32_t lanes_alike(const uint32_t *a, const uint32_t *b, uint32_t lane, uint32_t mask)
{
    return lanes_equal(a, a[lane]) & lanes_equal(b, b[lane]) & mask;
}

// Copies through the L1, whose data lies in the banks of shared memory: lanes of a phase are
// serialised if they write to one bank or read from one bank. Lanes that do not read write zeros.
static uint32_t bank_wavefronts(const Ends &ends, uint32_t lanes, uint32_t reading)
{
    uint32_t from[WARP_LANES], to[WARP_LANES], banks = WARP_BYTES / ends.width, total = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        from[lane] = ends.sources[lane] / ends.width % banks;
        to[lane] = ends.targets[lane] / ends.width % banks;
    }
    uint32_t phases = ends.width / BANK_BYTES, size = WARP_LANES / phases;
    for (uint32_t phase = 0; phase < phases; ++phase) {
        uint32_t part = lanes & lanes_of_part(phase, size), most = 0;
        for (uint32_t lane : Lanes{part}) {
            uint32_t same = lanes_equal(to, to[lane]);
            if (has(reading, lane))
                same |= lanes_equal(from, from[lane]) & reading;
            most = larger(most, count_lanes(same & part));
        }
        total += most;
    }
    return total;
}

// Copies past the L1: sectors go to shared memory as they arrive.
struct Transfers {
    static constexpr uint32_t HALF = SECTOR_BYTES / 2, LINE_SECTORS = WARP_BYTES / SECTOR_BYTES;
    // Per lane: source and target sector; whether its half of the source sector goes to the other
    // half of the target sector.
    uint32_t sources[WARP_LANES], targets[WARP_LANES], sides[WARP_LANES];
    // The first lane of each transfer, and the halves that the transfer writes.
    uint32_t lanes = 0, halves[WARP_LANES];

    Transfers(const Ends &ends, uint32_t asking);
    uint32_t wavefronts() const;
};

Transfers::Transfers(const Ends &ends, uint32_t asking)
{
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        sources[lane] = ends.sources[lane] / SECTOR_BYTES;
        targets[lane] = ends.targets[lane] / SECTOR_BYTES;
        uint32_t turned = (ends.sources[lane] ^ ends.targets[lane]) / HALF % 2;
        sides[lane] = targets[lane] << 1 | turned;
    }
    for (uint32_t lane : Lanes{asking}) {
        uint32_t same = lanes_alike(sources, sides, lane, asking);
        halves[lane] = 0;
        for (uint32_t other : Lanes{same})
            halves[lane] |= bit(ends.targets[other] / HALF % 2);
        if (lowest_lane(same) == lane)
            lanes |= bit(lane);
    }
}

// Transfers between two lines share a wavefront if they write the same halves, and all keep or all
// swap the order of the two sectors of 64 bytes. A sector with two targets is sent twice.
uint32_t Transfers::wavefronts() const
{
    uint32_t lines[WARP_LANES] = {}, kinds[WARP_LANES] = {}, total = 0;
    for (uint32_t lane : Lanes{lanes}) {
        uint32_t crossed = (sources[lane] ^ targets[lane]) % 2, turned = sides[lane] % 2;
        lines[lane] = sources[lane] / LINE_SECTORS;
        kinds[lane] = targets[lane] / LINE_SECTORS << 4 | halves[lane] << 2 | turned << 1 | crossed;
    }
    for (uint32_t lane : Lanes{lanes}) {
        uint32_t together = lanes_alike(lines, kinds, lane, lanes), most = 0;
        if (lowest_lane(together) != lane)
            continue;
        for (uint32_t other : Lanes{together})
            most = larger(most, count_lanes(lanes_equal(sources, sources[other]) & together));
        total += most;
    }
    return total;
}

// --- what is counted -----------------------------------------------------------------------------

// Lanes in Nsight Compute's view: counted lanes, lanes of these that it assumes to read, and lanes
// that read.
struct NcuLanes {
    uint32_t lanes, reading, asking;
};

// For copies past the L1, Nsight Compute reads predicates after it has overwritten P0 with "fills
// with zeros": a copy under @P0 is not counted, and a copy under @!P0 is counted for all lanes of
// the path.
static NcuLanes lanes_in_ncu(uint32_t form, uint32_t path, uint32_t lanes, uint32_t operand)
{
    uint32_t first = form & CopyForm::FILLS ? FULL_MASK : 0, reading = operand;
    if (form & CopyForm::GUARD_IS_P0)
        lanes = path & (form & CopyForm::GUARD_NEGATED ? ~first : first);
    if (form & CopyForm::OPERAND_IS_P0)
        reading = form & CopyForm::OPERAND_NEGATED ? ~first : first;
    return {lanes, lanes & reading, lanes & operand};
}

static uint32_t first_lanes(const uint32_t *values, uint32_t mask)
{
    return distinct_lanes(values, mask, WARP_LANES);
}

static void count_through_l1(const Ends &ends, NcuLanes seen, Copy &copy)
{
    uint32_t sectors[WARP_LANES], width = ends.width;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        sectors[lane] = ends.sources[lane] / SECTOR_BYTES;
    uint32_t bytes = count_lanes(seen.lanes) * width;
    fill(copy.shared_cost, bank_wavefronts(ends, seen.lanes, seen.reading),
         units_of(bytes, WARP_BYTES), bytes);
    fill(copy.global_cost, count_lanes(first_lanes(sectors, seen.asking)),
         units_of(count_lanes(seen.asking) * width, SECTOR_BYTES),
         count_lanes(first_lanes(ends.sources, seen.asking)) * width);
}

// If a lane is or may be filled with zeros, all lanes also pass the banks. Of lanes with one
// target, only the first lane's data is sent.
static void count_past_l1(const Ends &ends, NcuLanes seen, bool fills, Copy &copy)
{
    uint32_t width = ends.width, sent = first_lanes(ends.targets, seen.lanes) & seen.reading;
    uint32_t wavefronts = Transfers(ends, sent).wavefronts();
    uint32_t ideal = units_of(count_lanes(sent) * width, WARP_BYTES);
    uint32_t bytes = count_lanes(seen.lanes) * width;
    if (fills || seen.reading != seen.lanes) {
        wavefronts += bank_wavefronts(ends, seen.lanes, seen.reading);
        ideal += units_of(bytes, WARP_BYTES);
    }
    fill(copy.shared_cost, wavefronts, ideal, bytes);
    uint32_t asked = first_lanes(ends.targets, seen.asking);
    fill(copy.global_cost, count_lanes(Transfers(ends, asked).lanes),
         units_of(count_lanes(asked) * width, SECTOR_BYTES),
         count_lanes(asked & first_lanes(ends.sources, seen.asking)) * width);
}

// Target addresses are in lane_addresses, source addresses in lane_uppers. `path`: lanes of the
// running path; `lanes`: lanes whose guard is true; `operand`: lanes whose data is read.
EXPORT void emulator_find_copy_cost(Context *context, Copy *copy, uint32_t path, uint32_t lanes,
                                    uint32_t operand, uint32_t form, uint32_t width)
{
    Ends ends{context->lane_uppers, context->lane_addresses, width};
    NcuLanes seen = lanes_in_ncu(form, path, lanes, operand);
    if (form & CopyForm::PAST_L1)
        count_past_l1(ends, seen, form & CopyForm::FILLS, *copy);
    else
        count_through_l1(ends, seen, *copy);
    copy->shared_cost[Cost::REQUESTS] = lanes != 0;
    copy->global_cost[Cost::REQUESTS] = (lanes & operand) != 0;
}
