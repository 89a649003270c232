// Linear filtering of a texture unit: weights of 8 bits; texels are aligned to one exponent,
// truncated and added.
//
// The rules are derived from an H200's blends of chosen texels and equal its blends of random
// texels.
#pragma once

#include <cmath>

#include "warps/lanes.h"

constexpr uint32_t FRACTION_BITS = 8, ONE = 1u << FRACTION_BITS, AXES = 3;
constexpr uint32_t CORNERS = 4, NOT_A_NUMBER = 0x7FFFFFFF, SPECIAL = 0xFF;
// GUARD_BITS: bits that a blend keeps below a format's last bit. BELOW_HALF: additional fraction
// bits of float32 compared with half.
constexpr uint32_t GUARD_BITS = 4, BELOW_HALF = 13;

// A filter's place on an axis: its first texel, and the weight of the next texel in 256ths.
struct Spot {
    int64_t texel;
    uint32_t fraction;
};

// The product of two weights in 256ths, rounded half up.
HOT uint32_t share(uint32_t whole, uint32_t part) { return (whole * part + ONE / 2) / ONE; }

// The weights of the four corners of two axes; their sum is `whole`.
inline void divide(uint32_t whole, const Spot &x, const Spot &y, uint32_t *shares)
{
    uint32_t right = share(whole, x.fraction), left = whole - right;
    shares[3] = share(right, y.fraction);
    shares[1] = right - shares[3];
    shares[0] = share(left, ONE - y.fraction);
    shares[2] = left - shares[0];
}

// A slice of a filter: four texels and their weights. `meant`: the texel lies under the filter,
// even if its weight rounds to zero.
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

// A sum of reals in units of 2^(top - scale). `special`: infinity or NaN. `negative`: all summands
// were negative, which decides the sign of zero.
struct Sum {
    int64_t units;
    uint32_t top;
    double special;
    bool negative;
};

// The weighted sum. All texels are truncated at the same bit, `guard` bits below the last bit of
// the largest exponent with a weight; denormals count as zero.
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

// Adds two slices; the sum with the smaller `top` is aligned to the other, rounding to minus
// infinity.
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

// Rounds to `bits` bits after the leading bit, but not below 2^lowest; ties away from zero.
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
