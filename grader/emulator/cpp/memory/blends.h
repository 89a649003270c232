// How a texture unit blends: shares of 8 bits, and sums of texels that are cut off at one place.
//
// An H200's rules, found with blends of chosen texels, and equal to it in those of random ones.
#pragma once

#include <cmath>

#include "warps/lanes.h"

constexpr uint32_t FRACTION_BITS = 8, ONE = 1u << FRACTION_BITS, AXES = 3;
constexpr uint32_t CORNERS = 4, NOT_A_NUMBER = 0x7FFFFFFF, SPECIAL = 0xFF;
// Bits behind the last place of a format that a blend keeps, and places of a half that a float32
// has behind it.
constexpr uint32_t GUARD_BITS = 4, BELOW_HALF = 13;

// Where a filter lies on an axis: its first texel, and how much the next one counts in 256ths.
struct Spot {
    int64_t texel;
    uint32_t fraction;
};

// A share of a whole, both in 256ths; a half goes up.
HOT uint32_t share(uint32_t whole, uint32_t part) { return (whole * part + ONE / 2) / ONE; }

// The shares of the corners of two axes in a whole.
inline void divide(uint32_t whole, const Spot &x, const Spot &y, uint32_t *shares)
{
    uint32_t right = share(whole, x.fraction), left = whole - right;
    shares[3] = share(right, y.fraction);
    shares[1] = right - shares[3];
    shares[0] = share(left, ONE - y.fraction);
    shares[2] = left - shares[0];
}

// A slice of a filter: four texels and their shares. `meant` tells which of them lie under it; a
// share may be zero even so.
struct Slice {
    uint32_t texels[CORNERS], shares[CORNERS];
    bool meant[CORNERS];
};

inline Slice cut_slice(const Spot *spots, uint32_t number)
{
    Slice slice = {};
    divide(number ? spots[2].fraction : ONE - spots[2].fraction, spots[0], spots[1], slice.shares);
    for (uint32_t n = 0; n < CORNERS; ++n)
        slice.meant[n] = (!(n & 1) || spots[0].fraction) && (n < 2 || spots[1].fraction) &&
                         (!number || spots[2].fraction);
    return slice;
}

// A sum of reals: units of 2^(top - scale), or a `special` one: infinite, or no number. `negative`:
// of a zero, all that was added is.
struct Sum {
    int64_t units;
    uint32_t top;
    double special;
    bool negative;
};

// The texels by their shares. All are cut off at one place, so many bits below the largest exponent
// among those that have a share; what is denormal is zero.
inline Sum add_texels(const Slice &slice, uint32_t guard)
{
    Sum sum = {0, 0, 0, true};
    for (uint32_t n = 0; n < CORNERS; ++n) {
        uint32_t exponent = slice.texels[n] >> 23 & SPECIAL;
        if (exponent == SPECIAL && slice.meant[n])
            sum.special += double(bits_as<float>(slice.texels[n]));
        sum.top = slice.shares[n] ? larger(sum.top, exponent) : sum.top;
    }
    for (uint32_t n = 0; n < CORNERS; ++n) {
        uint32_t exponent = slice.texels[n] >> 23 & SPECIAL;
        bool minus = slice.texels[n] >> 31;
        sum.negative &= minus || !slice.meant[n];
        if (slice.shares[n] == 0)
            continue;
        if (exponent == 0)
            continue;
        uint64_t significand = (slice.texels[n] & 0x7FFFFF) | 0x800000;
        int64_t cut = significand << guard >> smaller(BELOW_HALF + sum.top - exponent, 63);
        sum.units += (minus ? -cut : cut) * slice.shares[n];
    }
    return sum;
}

// Of two slices, the sum with the smaller top goes to the other's units, towards minus infinity.
inline Sum join(const Sum &one, const Sum &other)
{
    uint32_t top = larger(one.top, other.top);
    int64_t units = (one.units >> smaller(top - one.top, 63)) +
                    (other.units >> smaller(top - other.top, 63));
    return {units, top, one.special + other.special, one.negative && other.negative};
}

inline double value_of(const Sum &sum, uint32_t guard)
{
    if (sum.special != 0)
        return sum.special;
    int places = 127 + 23 + int(guard) - int(BELOW_HALF) + int(FRACTION_BITS);
    double value = std::ldexp(double(sum.units), int(sum.top) - places);
    return sum.units == 0 && sum.negative ? -0.0 : value;
}

// The nearest number with so many bits behind the first one, of which the lowest is not below
// 2^lowest; of two, the one farther from zero.
inline double round_to(double value, int bits, int lowest)
{
    int exponent = value == 0 ? 0 : std::ilogb(value) - bits;
    double unit = std::ldexp(1, exponent < lowest ? lowest : exponent);
    return std::copysign(std::floor(std::fabs(value) / unit + 0.5) * unit, value);
}

inline uint32_t finish_float(double sum)
{
    if (std::isnan(sum))
        return NOT_A_NUMBER;
    if (std::isinf(sum))
        return bits_as<uint32_t>(float(sum));
    double rounded = round_to(sum, 23, -149);
    return bits_as<uint32_t>(
        float(std::fabs(rounded) < 0x1p-126 ? std::copysign(0.0, rounded) : rounded));
}

inline uint32_t finish_half(double sum)
{
    if (std::isnan(sum))
        return NOT_A_NUMBER;
    double rounded = std::isinf(sum) ? sum : round_to(sum, 10, -24);
    return bits_as<uint32_t>(std::fabs(rounded) > 65504 ? std::copysign(INFINITY, float(rounded))
                                                        : float(rounded));
}
