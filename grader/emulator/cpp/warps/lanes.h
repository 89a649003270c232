// What all of the runtime is written with: lanes of a warp, and masks of them, lane 0 lowest.
//
// What is exported carries the prefix emulator_ and is called by the steps of kernels. Vectors
// never cross that boundary, for the two compilers pass them in different registers: they lie in
// the context's lane_addresses, lane_uppers and lane_data.
#pragma once

#include <cstring>

#include "records.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

// What runs at each access is compiled once for each kind, for there its width is a constant (HOT);
// what hardly ever runs is kept out of its way (COLD).
#define HOT static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline, cold))
#define APART static __attribute__((noinline))

// What lies at a place, however it is aligned.
template <class Number> HOT Number read(const void *place)
{
    Number value;
    memcpy(&value, place, sizeof value);
    return value;
}

// The bits of a number, taken for another one.
template <class Number, class Other> HOT Number bits_as(Other value)
{
    static_assert(sizeof(Number) == sizeof(Other));
    return read<Number>(&value);
}

// A word of each lane, and of each bank of shared memory.
constexpr uint32_t WARP_BYTES = WARP_LANES * BANK_BYTES;

inline bool likely(bool condition) { return __builtin_expect(condition, true); }
inline bool unlikely(bool condition) { return __builtin_expect(condition, false); }

inline uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
inline uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

inline uint32_t lowest_lane(uint32_t mask) { return __builtin_ctz(mask); }
inline uint32_t highest_lane(uint32_t mask) { return 31 - __builtin_clz(mask); }
inline uint32_t count_lanes(uint32_t mask) { return __builtin_popcount(mask); }
inline uint32_t bit(uint32_t lane) { return 1u << lane; }
inline bool has(uint32_t mask, uint32_t lane) { return mask >> lane & 1; }

// The lanes of a mask in ascending order: for (uint32_t lane : Lanes{mask}) ...
struct Lanes {
    uint32_t mask;

    struct Iterator {
        uint32_t rest;
        uint32_t operator*() const { return lowest_lane(rest); }
        void operator++() { rest &= rest - 1; }
        bool operator!=(const Iterator &other) const { return rest != other.rest; }
    };
    Iterator begin() const { return {mask}; }
    Iterator end() const { return {0}; }
};

// The lanes for which a condition holds.
template <class Condition> inline uint32_t lanes_where(Condition condition)
{
    uint32_t found = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        found |= condition(lane) ? bit(lane) : 0;
    return found;
}

inline uint32_t lanes_equal(const uint32_t *values, uint32_t value)
{
    return lanes_where([=](uint32_t lane) { return values[lane] == value; });
}

// The lanes of part number `part` of a warp that is cut in parts of `size` lanes.
inline uint32_t lanes_of_part(uint32_t part, uint32_t size)
{
    return (size == WARP_LANES ? FULL_MASK : bit(size) - 1) << (part * size);
}

inline Warp &warp_at(Context &context, uint32_t index)
{
    auto warps = reinterpret_cast<uint8_t *>(context.warps);
    return *reinterpret_cast<Warp *>(warps + uint64_t(index) * context.warp_bytes);
}

inline uint8_t *host_pointer(uint64_t address) { return reinterpret_cast<uint8_t *>(address); }
