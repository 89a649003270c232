// What asynchronous copies to shared memory cost, as Nsight Compute counts them on an H100: found
// by counting single ones, of the patterns in tests/data/truth among others. Steps ask for it where
// a warp's copy is not like the last one.
#include "memory/counting.h"

// The lower words of the lanes' addresses, and how many bytes go from one to the other.
struct Ends {
    const uint32_t *sources, *targets;
    uint32_t width;
};

// The lanes of a mask that have a lane's value in both of two rows.
static uint32_t lanes_alike(const uint32_t *a, const uint32_t *b, uint32_t lane, uint32_t mask)
{
    return lanes_equal(a, a[lane]) & lanes_equal(b, b[lane]) & mask;
}

// Through the L1, whose data lies in the banks of shared memory: the lanes of a phase take turns
// where they write to the same bank, and where they read from the same one. Lanes that do not read
// write zeros.
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
            uint32_t met = lanes_equal(to, to[lane]);
            if (has(reading, lane))
                met |= lanes_equal(from, from[lane]) & reading;
            most = larger(most, count_lanes(met & part));
        }
        total += most;
    }
    return total;
}

// Past the L1, sectors go to shared memory as they arrive.
struct Transfers {
    static constexpr uint32_t HALF = SECTOR_BYTES / 2, LINE_SECTORS = WARP_BYTES / SECTOR_BYTES;
    // Of each lane, its two sectors, and whether its half of the one goes to the other half of the
    // other.
    uint32_t sources[WARP_LANES], targets[WARP_LANES], ways[WARP_LANES];
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
        ways[lane] = targets[lane] << 1 | turned;
    }
    for (uint32_t lane : Lanes{asking}) {
        uint32_t same = lanes_alike(sources, ways, lane, asking);
        halves[lane] = 0;
        for (uint32_t other : Lanes{same})
            halves[lane] |= bit(ends.targets[other] / HALF % 2);
        if (lowest_lane(same) == lane)
            lanes |= bit(lane);
    }
}

// Transfers between two lines go together that write the same halves, and all leave the order of
// the two sectors of 64 bytes or all change it. A sector that goes to two places is sent twice.
uint32_t Transfers::wavefronts() const
{
    uint32_t lines[WARP_LANES] = {}, kinds[WARP_LANES] = {}, total = 0;
    for (uint32_t lane : Lanes{lanes}) {
        uint32_t crossed = (sources[lane] ^ targets[lane]) % 2, turned = ways[lane] % 2;
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

// Lanes as Nsight Compute sees them: those that it counts, those of them that it takes for reading,
// and those that do read.
struct Seen {
    uint32_t lanes, reading, asking;
};

// Of copies past the L1 it asks for predicates when it has already written to P0 whether the copy
// fills up with zeros: a copy under @P0 is not counted, and one under @!P0 is for all lanes of the
// path.
static Seen look(uint32_t form, uint32_t path, uint32_t lanes, uint32_t operand)
{
    uint32_t first = form & CopyForm::FILLS ? FULL_MASK : 0, reading = operand;
    if (form & CopyForm::GUARD_IS_P0)
        lanes = path & (form & CopyForm::GUARD_NEGATED ? ~first : first);
    if (form & CopyForm::OPERAND_IS_P0)
        reading = form & CopyForm::OPERAND_NEGATED ? ~first : first;
    return {lanes, lanes & reading, lanes & operand};
}

static void fill_in(uint16_t *cost, uint32_t passes, uint32_t passes_ideal, uint32_t bytes)
{
    cost[Cost::PASSES] = uint16_t(passes);
    cost[Cost::PASSES_IDEAL] = uint16_t(smaller(passes, passes_ideal));
    cost[Cost::BYTES] = uint16_t(bytes);
}

static uint32_t first_lanes(const uint32_t *values, uint32_t mask)
{
    return distinct_lanes(values, mask, WARP_LANES);
}

static uint32_t units(uint32_t lanes, uint32_t width, uint32_t size)
{
    return (count_lanes(lanes) * width + size - 1) / size;
}

static void count_through_l1(const Ends &ends, Seen seen, Copy &copy)
{
    uint32_t sectors[WARP_LANES], width = ends.width;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        sectors[lane] = ends.sources[lane] / SECTOR_BYTES;
    fill_in(copy.shared_cost, bank_wavefronts(ends, seen.lanes, seen.reading),
            units(seen.lanes, width, WARP_BYTES), count_lanes(seen.lanes) * width);
    fill_in(copy.global_cost, count_lanes(first_lanes(sectors, seen.asking)),
            units(seen.asking, width, SECTOR_BYTES),
            count_lanes(first_lanes(ends.sources, seen.asking)) * width);
}

// Where some lane is, or may be, filled with zeros, all lanes pass the banks besides. Of lanes that
// write to one place only the first has its data sent.
static void count_past_l1(const Ends &ends, Seen seen, bool fills, Copy &copy)
{
    uint32_t width = ends.width, sent = first_lanes(ends.targets, seen.lanes) & seen.reading;
    uint32_t wavefronts = Transfers(ends, sent).wavefronts();
    uint32_t ideal = units(sent, width, WARP_BYTES);
    if (fills || seen.reading != seen.lanes) {
        wavefronts += bank_wavefronts(ends, seen.lanes, seen.reading);
        ideal += units(seen.lanes, width, WARP_BYTES);
    }
    fill_in(copy.shared_cost, wavefronts, ideal, count_lanes(seen.lanes) * width);
    uint32_t asked = first_lanes(ends.targets, seen.asking);
    fill_in(copy.global_cost, count_lanes(Transfers(ends, asked).lanes),
            units(asked, width, SECTOR_BYTES),
            count_lanes(asked & first_lanes(ends.sources, seen.asking)) * width);
}

// The targets' addresses lie in lane_addresses, the sources' in lane_uppers. `path` are the lanes
// that come here, `lanes` those whose guard is true, `operand` those whose data is read.
EXPORT void emulator_find_copy_cost(Context *context, Copy *copy, uint32_t path, uint32_t lanes,
                                    uint32_t operand, uint32_t form, uint32_t width)
{
    Ends ends{context->lane_uppers, context->lane_addresses, width};
    Seen seen = look(form, path, lanes, operand);
    if (form & CopyForm::PAST_L1)
        count_past_l1(ends, seen, form & CopyForm::FILLS, *copy);
    else
        count_through_l1(ends, seen, *copy);
    copy->shared_cost[Cost::REQUESTS] = lanes != 0;
    copy->global_cost[Cost::REQUESTS] = (lanes & operand) != 0;
}
