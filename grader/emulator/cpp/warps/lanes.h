// Shared by all files: the lanes of a warp and masks of them (bit 0: lane 0).
//
// Exported functions have the prefix emulator_; compiled kernels call them. Arguments of that
// boundary are scalars because g++ and LLVM pass vectors in different registers; vectors lie in the
// context's lane_addresses, lane_uppers and lane_data.
#pragma once

#include <cstring>

#include "records.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

// HOT: code of every access, compiled for each kind of access so that its width is a constant.
// COLD: code that rarely runs, kept out of the processor's instruction cache. APART: not inlined.
#define HOT static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline, cold))
#define APART static __attribute__((noinline))

// Reads a number at any alignment.
template <class Number> HOT Number read(const void *place)
{
    Number value;
    memcpy(&value, place, sizeof value);
    return value;
}

// The bits of one number as another number of the same size.
template <class Number, class Other> HOT Number bits_as(Other value)
{
    static_assert(sizeof(Number) == sizeof(Other));
    return read<Number>(&value);
}

// Stores the same number, before it is read: the system then provides a page at once. Else it
// provides a shared page of zeros, and at the next store a page of its own, for which it interrupts
// all threads.
template <class Number> HOT void provide_page(Number &place)
{
#ifdef __x86_64__
    asm volatile("orb $0, %0" : "+m"(reinterpret_cast<uint8_t &>(place)));
#else
    (void)place;
#endif
}

// A word of 4 bytes for each lane, or for each bank of shared memory.
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

// The first lane of each group of `size` neighbouring lanes.
inline uint32_t first_lanes(uint32_t size)
{
    return FULL_MASK / uint32_t((uint64_t(1) << size) - 1);
}

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

// The lanes of part number `part`, if the warp is divided into parts of `size` lanes.
inline uint32_t lanes_of_part(uint32_t part, uint32_t size)
{
    return (size == WARP_LANES ? FULL_MASK : bit(size) - 1) << (part * size);
}

inline Warp &warp_at(Context &context, uint32_t index)
{
    auto warps = reinterpret_cast<uint8_t *>(context.warps);
    return *reinterpret_cast<Warp *>(warps + uint64_t(index) * context.warp_bytes);
}

// The warps of the context's block: for (Warp &warp : Warps{context}) ...
struct Warps {
    Context &context;

    struct Iterator {
        Context &context;
        uint32_t index;
        Warp &operator*() const { return warp_at(context, index); }
        void operator++() { ++index; }
        bool operator!=(const Iterator &other) const { return index != other.index; }
    };
    Iterator begin() const { return {context, 0}; }
    Iterator end() const { return {context, context.warp_count}; }
};

// The index of the context's block in its grid.
inline uint64_t linear_block(const Context &context)
{
    uint64_t width = context.grid_x, height = context.grid_y;
    return context.ctaid_x + width * (context.ctaid_y + height * context.ctaid_z);
}

// Stores a fault; returns its code.
__attribute__((noinline, cold)) inline uint32_t report_fault(Context &context, uint32_t code,
                                                             uint32_t instruction, uint32_t lane,
                                                             uint64_t address = 0)
{
    context.fault_instruction = instruction;
    context.fault_lane = lane;
    context.fault_address = address;
    return context.fault_code = code;
}

inline uint8_t *host_pointer(uint64_t address) { return reinterpret_cast<uint8_t *>(address); }
