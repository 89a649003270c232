// The counting rules, derived from probes on an H100. They run only for patterns that are new to
// their instruction: slots remember costs (patterns.cpp).
#include "memory/counting.h"

uint32_t distinct_lanes(const uint32_t *units, uint32_t mask, uint32_t group)
{
    uint32_t distinct = 0;
    for (uint32_t lane : Lanes{mask}) {
        uint32_t same = lanes_equal(units, units[lane]) & mask;
        uint32_t group_start = lane & -group;
        uint32_t earlier = same & (bit(lane) - 1) & (~0u << group_start);
        if (earlier == 0)
            distinct |= bit(lane);
    }
    return distinct;
}

void count_sectors(Access access, uint16_t *cost, const uint32_t *addresses, uint32_t mask)
{
    // An access wider than 4 bytes is aligned to its width, so each lane touches one sector.
    uint32_t sectors[WARP_LANES];
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        sectors[lane] = addresses[lane] / SECTOR_BYTES;
    fill(cost, count_lanes(distinct_lanes(sectors, mask, WARP_LANES)),
         units_of(count_lanes(mask) * access.width, SECTOR_BYTES),
         count_lanes(distinct_lanes(addresses, mask, WARP_LANES)) * access.width);
}

// The largest number of units in one bank over the lanes of a mask.
static uint32_t busiest_bank(const uint32_t *units, uint32_t lanes, uint32_t banks)
{
    uint32_t counts[BANKS] = {}, most = 0;
    for (uint32_t lane : Lanes{lanes})
        most = larger(most, ++counts[units[lane] % banks]);
    return most;
}

// Whether every active lane of a part has the same unit as its partner lane ^ distance, if that is
// active.
static bool partners_share(const uint32_t *units, uint32_t mask, uint32_t part, uint32_t distance)
{
    for (uint32_t lane : Lanes{mask & part}) {
        uint32_t partner = lane ^ distance;
        if (has(mask, partner) && units[partner] != units[lane])
            return false;
    }
    return true;
}

// Wavefronts of two neighbouring phases of a load: one if partner lanes share addresses and both
// phases fit into one wavefront.
static uint32_t count_pair(const uint32_t *units, uint32_t mask, uint32_t part, uint32_t banks,
                           uint32_t separate)
{
    uint32_t group = count_lanes(part);
    uint32_t together = busiest_bank(units, distinct_lanes(units, mask, group) & part, banks);
    bool shared = partners_share(units, mask, part, 1) || partners_share(units, mask, part, 2);
    return shared && together <= 1 ? together : separate;
}

void count_wavefronts(Access access, uint16_t *cost, const uint32_t *addresses, uint32_t mask)
{
    uint32_t unit_bytes = larger(access.width, BANK_BYTES), banks = WARP_BYTES / unit_bytes;
    uint32_t units[WARP_LANES];
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        units[lane] = addresses[lane] / unit_bytes;
    if (access.is(AccessFlag::ONE_A_BANK)) {
        for (uint32_t &unit : units)
            unit %= banks;
    }
    // 8 bytes per lane: two phases of 16 lanes; 16 bytes: four phases of 8 lanes.
    uint32_t phases = access.words(), size = WARP_LANES / phases, busiest[4];
    uint32_t counted = access.is(AccessFlag::TURNS) ? mask : distinct_lanes(units, mask, size);
    for (uint32_t phase = 0; phase < phases; ++phase)
        busiest[phase] = busiest_bank(units, counted & lanes_of_part(phase, size), banks);
    uint32_t total = 0;
    if (access.load && phases > 1 && !access.is(AccessFlag::MATRIX)) {
        for (uint32_t pair = 0; pair < phases / 2; ++pair)
            total += count_pair(units, mask, lanes_of_part(pair, 2 * size), banks,
                                busiest[2 * pair] + busiest[2 * pair + 1]);
    } else {
        for (uint32_t phase = 0; phase < phases; ++phase)
            total += busiest[phase];
    }
    uint32_t rounds = access.is(AccessFlag::TWICE) ? 2 : 1;
    uint32_t bytes_asked = count_lanes(mask) * access.width;
    uint32_t fewest = larger(1, units_of(bytes_asked, WARP_BYTES));
    fill(cost, total * rounds, fewest * rounds, bytes_asked);
}
