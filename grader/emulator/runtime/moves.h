// Move the data of an access between the host's memory and the lanes' words: word 0
// of all lanes, then word 1.
#pragma once

#include <type_traits>

#include "counting.h"

template <class Number> HOT Number read(const void *place)
{
    Number value;
    memcpy(&value, place, sizeof value);
    return value;
}

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

HOT void load_some(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses, Access access,
                   uint32_t mask)
{
    for (uint32_t lane : Lanes{mask})
        load_lane(data, host + addresses[lane], access, lane);
}

// Of several lanes that write one address, an H100 lets the lowest win within each phase (32 lanes
// up to 4 bytes, 16 lanes of 8 bytes, 8 lanes of 16), and later phases overwrite earlier ones:
// probed for shared and global memory at all widths. PTX leaves it undefined.
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

typedef uint32_t Four __attribute__((vector_size(16)));
constexpr uint32_t FOUR = 4;

// Four words of four lanes, or a word of four lanes for each of four words: one to the other.
HOT void transpose(Four *rows)
{
    Four low = __builtin_shuffle(rows[0], rows[1], Four{0, 4, 1, 5});
    Four low_next = __builtin_shuffle(rows[2], rows[3], Four{0, 4, 1, 5});
    Four high = __builtin_shuffle(rows[0], rows[1], Four{2, 6, 3, 7});
    Four high_next = __builtin_shuffle(rows[2], rows[3], Four{2, 6, 3, 7});
    rows[0] = __builtin_shuffle(low, low_next, Four{0, 1, 4, 5});
    rows[1] = __builtin_shuffle(low, low_next, Four{2, 3, 6, 7});
    rows[2] = __builtin_shuffle(high, high_next, Four{0, 1, 4, 5});
    rows[3] = __builtin_shuffle(high, high_next, Four{2, 3, 6, 7});
}

HOT void load_fours(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses)
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane += FOUR) {
        Four rows[FOUR];
        for (uint32_t row = 0; row < FOUR; ++row)
            rows[row] = read<Four>(host + addresses[lane + row]);
        transpose(rows);
        for (uint32_t word = 0; word < FOUR; ++word)
            write(data + word * WARP_LANES + lane, rows[word]);
    }
}

HOT void store_fours(const uint32_t *data, uint8_t *host, const uint32_t *addresses)
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane += FOUR) {
        Four rows[FOUR];
        for (uint32_t word = 0; word < FOUR; ++word)
            rows[word] = read<Four>(data + word * WARP_LANES + lane);
        transpose(rows);
        for (uint32_t row = 0; row < FOUR; ++row)
            write(host + addresses[lane + row], rows[row]);
    }
}

// --- all lanes, in any order ---------------------------------------------------------------------

HOT void load_lanes(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses, Access access)
{
    if (access.width == 16)
        return load_fours(data, host, addresses);
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

// Lanes that have no address in common.
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

// Call an action with the size of the groups as a constant.
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

// Words that lie one behind the other in each group.
HOT void load_groups(uint32_t *__restrict data, const uint8_t *host, const uint32_t *addresses, uint32_t group)
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

// The same words for all lanes of each group.
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

// Fetch what is likely to be asked for next into the processor's cache. Of a load that is what lies
// behind, for the next block or the next turn of a loop; of a store, what lies as far from it as it
// does from the one before, for the next warp. Matrices leave the cache with each row, so that this
// takes a third of the time off a transpose. A prefetch of no good address does nothing.
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
