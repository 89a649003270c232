// Moves the data of an access between the host's memory and the lanes' words: word 0 of all lanes,
// then word 1.
#pragma once

#include <type_traits>

#include "memory/counting.h"

template <class Number> HOT void write(void *place, Number value)
{
    memcpy(place, &value, sizeof value);
}

// --- lane by lane --------------------------------------------------------------------------------

HOT void load_lane(uint32_t *__restrict data, const uint8_t *place, Access access, uint32_t lane)
{
    bool is_signed = access.is(AccessFlag::SIGNED);
    if (access.width == 1)
        data[lane] = is_signed ? uint32_t(read<int8_t>(place)) : read<uint8_t>(place);
    else if (access.width == 2)
        data[lane] = is_signed ? uint32_t(read<int16_t>(place)) : read<uint16_t>(place);
    else
        for (uint32_t word = 0; word < access.words(); ++word)
            data[word * WARP_LANES + lane] = read<uint32_t>(place + 4 * word);
}

HOT void store_lane(const uint32_t *data, uint8_t *place, Access access, uint32_t lane)
{
    if (access.width < 4)
        memcpy(place, &data[lane], access.width);
    else
        for (uint32_t word = 0; word < access.words(); ++word)
            write(place + 4 * word, data[word * WARP_LANES + lane]);
}

HOT void load_some(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses,
                   Access access, uint32_t mask)
{
    for (uint32_t lane : Lanes{mask})
        load_lane(data, host + addresses[lane], access, lane);
}

// If several lanes write one address, an H100 stores the value of the lowest lane within each phase
// (4 bytes: 32 lanes, 8 bytes: 16 lanes, 16 bytes: 8 lanes), and later phases overwrite earlier
// phases: probed for shared and global memory at all widths. PTX leaves the result undefined.
HOT void store_in_phases(const uint32_t *data, uint8_t *host, const uint32_t *addresses,
                         Access access, uint32_t mask)
{
    uint32_t phases = access.words();
    for (uint32_t phase = 0; phase < phases; ++phase) {
        uint32_t rest = mask & lanes_of_part(phase, WARP_LANES / phases);
        while (rest != 0) {
            uint32_t lane = highest_lane(rest);
            store_lane(data, host + addresses[lane], access, lane);
            rest ^= bit(lane);
        }
    }
}

// --- four words of each lane ---------------------------------------------------------------------

typedef uint32_t Eight __attribute__((vector_size(32)));
constexpr uint32_t FOUR = 4, EIGHT = 8;

// Transposes between four words of eight lanes (lanes `row` and `row` + 4 in one row) and one word
// of eight lanes for each of four words.
HOT void transpose(Eight *rows)
{
    const Eight lower{0, 8, 1, 9, 4, 12, 5, 13}, upper{2, 10, 3, 11, 6, 14, 7, 15};
    const Eight lower_half{0, 1, 8, 9, 4, 5, 12, 13}, upper_half{2, 3, 10, 11, 6, 7, 14, 15};
    Eight low = __builtin_shuffle(rows[0], rows[1], lower);
    Eight low_next = __builtin_shuffle(rows[2], rows[3], lower);
    Eight high = __builtin_shuffle(rows[0], rows[1], upper);
    Eight high_next = __builtin_shuffle(rows[2], rows[3], upper);
    rows[0] = __builtin_shuffle(low, low_next, lower_half);
    rows[1] = __builtin_shuffle(low, low_next, upper_half);
    rows[2] = __builtin_shuffle(high, high_next, lower_half);
    rows[3] = __builtin_shuffle(high, high_next, upper_half);
}

HOT void load_fours(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses)
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane += EIGHT) {
        Eight rows[FOUR];
        for (uint32_t row = 0; row < FOUR; ++row) {
            uint32_t both[EIGHT];
            memcpy(both, host + addresses[lane + row], sizeof both / 2);
            memcpy(both + FOUR, host + addresses[lane + FOUR + row], sizeof both / 2);
            rows[row] = read<Eight>(both);
        }
        transpose(rows);
        for (uint32_t word = 0; word < FOUR; ++word)
            write(data + word * WARP_LANES + lane, rows[word]);
    }
}

HOT void store_fours(const uint32_t *data, uint8_t *host, const uint32_t *addresses)
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane += EIGHT) {
        Eight rows[FOUR];
        for (uint32_t word = 0; word < FOUR; ++word)
            rows[word] = read<Eight>(data + word * WARP_LANES + lane);
        transpose(rows);
        for (uint32_t row = 0; row < FOUR; ++row) {
            uint32_t both[EIGHT];
            write(both, rows[row]);
            memcpy(host + addresses[lane + row], both, sizeof both / 2);
            memcpy(host + addresses[lane + FOUR + row], both + FOUR, sizeof both / 2);
        }
    }
}

// --- all lanes, in any order ---------------------------------------------------------------------

typedef uint32_t Sixteen __attribute__((vector_size(64)));
constexpr uint32_t SIXTEEN = 16;

// Stores whole vectors: a later vector load of the register would otherwise wait until the separate
// stores reach the cache.
HOT void load_ones(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses)
{
    Sixteen low, high;
#pragma GCC unroll 32
    for (uint32_t lane = 0; lane < SIXTEEN; ++lane) {
        low[lane] = read<uint32_t>(host + addresses[lane]);
        high[lane] = read<uint32_t>(host + addresses[SIXTEEN + lane]);
    }
    write(data, low);
    write(data + SIXTEEN, high);
}

HOT void load_lanes(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses,
                    Access access)
{
    if (access.width == 16)
        return load_fours(data, host, addresses);
    if (access.width == 4)
        return load_ones(data, host, addresses);
#pragma GCC unroll 32 // twice as fast as a loop
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        load_lane(data, host + addresses[lane], access, lane);
}

HOT void store_lanes(const uint32_t *data, uint8_t *host, const uint32_t *addresses, Access access)
{
    if (access.width == 16)
        return store_fours(data, host, addresses);
#pragma GCC unroll 32
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        store_lane(data, host + addresses[lane], access, lane);
}

// For lanes with distinct addresses.
HOT void move_apart(Context &context, Access access, uint8_t *host, uint32_t mask)
{
    const uint32_t *addresses = context.lane_addresses;
    if (access.load && mask == FULL_MASK)
        load_lanes(context.words, host, addresses, access);
    else if (access.load)
        load_some(context.words, host, addresses, access, mask);
    else if (mask == FULL_MASK)
        store_lanes(context.words, host, addresses, access);
    else
        store_in_phases(context.words, host, addresses, access, mask);
}

// --- groups of neighbouring lanes ----------------------------------------------------------------

// Calls an action with the group size as a constant.
template <class Action> HOT void with_group(uint32_t group, Action action)
{
    switch (group) {
    case 32:
        return action(std::integral_constant<uint32_t, 32>());
    case 16:
        return action(std::integral_constant<uint32_t, 16>());
    case 8:
        return action(std::integral_constant<uint32_t, 8>());
    default:
        return action(std::integral_constant<uint32_t, SMALLEST_GROUP>());
    }
}

// Consecutive words in each group.
HOT void load_groups(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses,
                     uint32_t group)
{
    with_group(group, [=](auto size) {
        for (uint32_t lane = 0; lane < WARP_LANES; lane += size)
            memcpy(data + lane, host + addresses[lane], 4 * size);
    });
}

HOT void store_groups(const uint32_t *data, uint8_t *host, const uint32_t *addresses,
                      uint32_t group)
{
    with_group(group, [=](auto size) {
        for (uint32_t lane = 0; lane < WARP_LANES; lane += size)
            memcpy(host + addresses[lane], data + lane, 4 * size);
    });
}

// The same words for all lanes of a group.
HOT void spread_groups(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses,
                       uint32_t words, uint32_t group)
{
    with_group(group, [=](auto size) {
        for (uint32_t lane = 0; lane < WARP_LANES; lane += size)
            for (uint32_t word = 0; word < words; ++word) {
                uint32_t value = read<uint32_t>(host + addresses[lane] + 4 * word);
                for (uint32_t next = 0; next < size; ++next)
                    data[word * WARP_LANES + lane + next] = value;
            }
    });
}

// Prefetches the memory that the next access probably needs into the processor's cache: for a load
// the bytes after this one (the next block or loop round), for a store the address at the same
// distance as from the previous store (the next warp). Rows of matrices evict each other; this
// saves a third of a transpose's time. A prefetch of an invalid address has no effect.
HOT void prefetch_next(const Context &context, Access access, Slot &slot, const uint8_t *host)
{
    const Pattern &pattern = pattern_of(slot);
    uint32_t bytes = pattern.group * access.width, base = context.lane_addresses[0];
    bool contiguous = pattern.kind == PatternKind::CONTIGUOUS ||
                      pattern.kind == PatternKind::CONTIGUOUS_GROUPS;
    if (!contiguous || bytes < CACHE_LINE)
        return;
    const uint8_t *next = host + (access.load ? bytes : base - slot.last_base);
    slot.last_base = base;
    for (uint32_t lane = 0; lane < WARP_LANES; lane += pattern.group)
        for (uint32_t byte = 0; byte < bytes; byte += CACHE_LINE)
            access.load ? __builtin_prefetch(next + context.lane_addresses[lane] + byte)
                        : __builtin_prefetch(next + context.lane_addresses[lane] + byte, 1);
}

// --- an access of the slot's pattern -------------------------------------------------------------

HOT void move_in(Context &context, Access access, const Slot &slot, const uint8_t *host,
                 uint32_t mask)
{
    const uint32_t *addresses = context.lane_addresses;
    const Pattern &pattern = pattern_of(slot);
    uint32_t *data = context.words, kind = pattern.kind;
    if (access.width == 4 && kind == PatternKind::CONTIGUOUS) {
        load_groups(data, host, addresses, WARP_LANES);
    } else if (access.width >= 4 && kind == PatternKind::BROADCAST) {
        spread_groups(data, host, addresses, access.words(), WARP_LANES);
    } else if (access.width == 4 && kind == PatternKind::CONTIGUOUS_GROUPS) {
        load_groups(data, host, addresses, pattern.group);
    } else if (access.width >= 4 && kind == PatternKind::BROADCAST_GROUPS) {
        spread_groups(data, host, addresses, access.words(), pattern.group);
    } else if (mask == FULL_MASK) {
        load_lanes(data, host, addresses, access);
    } else {
        load_some(data, host, addresses, access, mask);
    }
}

HOT void move_out(Context &context, Access access, const Slot &slot, uint8_t *host, uint32_t mask)
{
    const uint32_t *addresses = context.lane_addresses, *data = context.words;
    const Pattern &pattern = pattern_of(slot);
    if (access.width == 4 && pattern.kind == PatternKind::CONTIGUOUS)
        store_groups(data, host, addresses, WARP_LANES);
    else if (access.width == 4 && pattern.kind == PatternKind::CONTIGUOUS_GROUPS)
        store_groups(data, host, addresses, pattern.group);
    else if (mask == FULL_MASK && pattern.kind != PatternKind::GENERAL)
        store_lanes(data, host, addresses, access);
    else
        store_in_phases(data, host, addresses, access, mask);
}
