// Products of matrices of floats: D = A * B + C, bit for bit.
//
// Products are exact. Products and C are truncated at one bit, `places` bits below their largest
// exponent, and added exactly; the sum is truncated to float32 or rounded to the nearest half. The
// rule is that of "MMA-Sim" (arXiv 2511.10909); an H200 agrees in a million tiles of each form.
#pragma once

#include <algorithm>
#include <cmath>

#include "tensor/fragments.h"

// Truncation of a sum: bits below the largest exponent, bytes of a row of A in one sum, fraction
// bits of the resulting float32.
struct Rule {
    int32_t places;
    uint32_t block_bytes, fraction = Single::FRACTION;
};

constexpr int32_t NO_EXPONENT = -4096;
// Fraction bits of a factor.
template <class Format> constexpr int32_t PART_PLACES = Format::BITS == 8 ? 3 : 10;
// Lower bounds for the top exponent of a sum, before `places` is subtracted.
constexpr int32_t LOWEST_TO_HALF = 4, LOWEST_TO_SINGLE = -108;
constexpr uint32_t NAN_SINGLE = 0x7FFFFFFF, INFINITE_SINGLE = 0x7F800000, SIGN_SINGLE = 1u << 31;
constexpr uint32_t NAN_HALF = 0x7FFF, INFINITE_HALF = 0x7C00, SIGN_HALF = 0x8000;

// The lower bound for the top exponent of a sum.
template <class Result> int32_t lowest_top(Rule rule)
{
    return (Result::BITS == 16 ? LOWEST_TO_HALF : LOWEST_TO_SINGLE) - rule.places;
}

// --- numbers -------------------------------------------------------------------------------------

template <class Format> constexpr uint32_t SIGN = 1u << (Format::BITS - 1);
template <class Format> constexpr uint32_t INFINITE = Format::EXPONENTS << Format::FRACTION;
template <class Format> constexpr uint32_t LEAST_NAN = INFINITE<Format> + 1;
// This format has no infinities and one NaN.
template <> constexpr uint32_t INFINITE<Exponents4> = 0x7F;
template <> constexpr uint32_t LEAST_NAN<Exponents4> = 0x7F;

template <class Format> HOT uint32_t magnitude_of(uint32_t code)
{
    return code & (SIGN<Format> - 1);
}

template <class Format> HOT int32_t exponent_of(uint32_t code)
{
    int32_t biased = magnitude_of<Format>(code) >> Format::FRACTION;
    return (biased > 1 ? biased : 1) - int32_t(Format::EXPONENTS / 2);
}

// --- ordinary numbers ----------------------------------------------------------------------------
//
// Vectors of float32 hold the products of two factors exactly. Their conversion to integers
// truncates them at the unit of a sum.

// Top exponents of sums that are computed so. Products below the range of float32 are far below the
// unit of such a sum.
constexpr int32_t LOWEST_ORDINARY = -60, HIGHEST_ORDINARY = 100;
constexpr int32_t SINGLE_BIAS = Single::EXPONENTS / 2;

// Vectors of numbers. GCC keeps them in a vector register where the processor has one; it does not
// vectorise the same loops over arrays.
template <uint32_t LANES> struct Vectors {
    typedef int32_t Ints __attribute__((vector_size(4 * LANES)));
    typedef float Floats __attribute__((vector_size(4 * LANES)));
};
template <uint32_t LANES> using Ints = typename Vectors<LANES>::Ints;
template <uint32_t LANES> using FloatLanes = typename Vectors<LANES>::Floats;
constexpr uint32_t EIGHT = 8;
typedef int64_t Longs __attribute__((vector_size(8 * EIGHT)));
typedef double Doubles __attribute__((vector_size(8 * EIGHT)));

template <class Vector, class T> HOT Vector load_lanes(const T *values)
{
    Vector lanes;
    memcpy(&lanes, values, sizeof lanes);
    return lanes;
}

// Eight lanes, from the lane `first` on.
template <class Vector, class Lanes> HOT Vector eight_of(const Lanes &lanes, uint32_t first)
{
    return load_lanes<Vector>(reinterpret_cast<const int32_t *>(&lanes) + first);
}

template <class Vector> HOT bool is_any(const Vector &lanes)
{
    uint64_t words[sizeof lanes / sizeof(uint64_t)], found = 0;
    memcpy(words, &lanes, sizeof lanes);
    for (uint64_t word : words)
        found |= word;
    return found != 0;
}

// Numbers as float32, and their exponents; zeros have NO_EXPONENT.
template <uint32_t COUNT> struct Numbers {
    FloatLanes<COUNT> values;
    Ints<COUNT> exponents;
};

// Reads codes that are neither infinities nor NaNs.
template <class Format, uint32_t COUNT> HOT Numbers<COUNT> read_numbers(const uint32_t *codes)
{
    constexpr int32_t BIAS = Format::EXPONENTS / 2, LONGER = 32 - Format::BITS;
    const float scale = bits_as<float>((2 * SINGLE_BIAS - BIAS) << Single::FRACTION);
    Ints<COUNT> code = load_lanes<Ints<COUNT>>(codes);
    Ints<COUNT> magnitude = code & int32_t(SIGN<Format> - 1);
    Ints<COUNT> biased = magnitude >> Format::FRACTION;
    Ints<COUNT> bits = magnitude << (Single::FRACTION - Format::FRACTION);
    FloatLanes<COUNT> values = reinterpret_cast<FloatLanes<COUNT>>(bits) * scale;
    Ints<COUNT> sign = (code & int32_t(SIGN<Format>)) << LONGER;
    values = reinterpret_cast<FloatLanes<COUNT>>(reinterpret_cast<Ints<COUNT>>(values) | sign);
    return {values, magnitude != 0 ? (biased > 1 ? biased : 1) - BIAS : NO_EXPONENT};
}

// A power of two as float32.
template <uint32_t LANES> HOT FloatLanes<LANES> power_of_two(const Ints<LANES> &exponents)
{
    return reinterpret_cast<FloatLanes<LANES>>((exponents + SINGLE_BIAS) << Single::FRACTION);
}

// --- rounding ------------------------------------------------------------------------------------

constexpr double LEAST_NORMAL = 0x1p-126, LEAST_SINGLE = 0x1p-149;

// Truncates to float32 with `fraction` fraction bits; infinite beyond its range. Zeros are
// positive.
HOT uint32_t cut_to_single(double sum, uint32_t fraction)
{
    double normal = bits_as<double>(bits_as<uint64_t>(sum) & ~uint64_t(0) << (52 - fraction));
    if (unlikely(std::fabs(sum) < LEAST_NORMAL))
        normal = std::trunc(sum / LEAST_SINGLE) * LEAST_SINGLE;
    return bits_as<uint32_t>(float(normal) + 0.0f);
}

// Rounds to the nearest half, ties to even. Zeros are positive.
HOT uint32_t round_to_half(double sum)
{
    constexpr double TOO_LARGE = 65536.0;
    double magnitude = std::fabs(sum);
    uint32_t sign = sum < 0 ? SIGN_HALF : 0;
    if (magnitude >= TOO_LARGE)
        return sign | INFINITE_HALF;
    int32_t exponent = int32_t(bits_as<uint64_t>(magnitude) >> 52) - 1023;
    exponent = exponent > -14 ? exponent : -14;
    double unit = bits_as<double>(uint64_t(exponent - int32_t(Half::FRACTION) + 1023) << 52);
    uint32_t significand = uint32_t(std::nearbyint(magnitude / unit));
    if (significand == 0)
        return 0;
    return sign | (uint32_t(exponent + 14) * (1u << Half::FRACTION) + significand);
}

// Rounds eight sums in `units`, whose results are ordinary numbers.
template <class Result>
HOT void round_sums(Rule rule, const Doubles &sums, const FloatLanes<EIGHT> &units, uint32_t *codes)
{
    if constexpr (Result::BITS == 16) {
        Doubles scaled = sums * __builtin_convertvector(units, Doubles);
        for (uint32_t n = 0; n < EIGHT; ++n)
            codes[n] = round_to_half(scaled[n]);
        return;
    }
    Longs kept = reinterpret_cast<Longs>(sums) & int64_t(~uint64_t(0) << (52 - rule.fraction));
    FloatLanes<EIGHT> found = __builtin_convertvector(reinterpret_cast<Doubles>(kept),
                                                      FloatLanes<EIGHT>) *
                              units;
    memcpy(codes, &found, sizeof found);
}

// --- other numbers -------------------------------------------------------------------------------

// An exponent, NO_EXPONENT for zero, and a signed significand with `PLACES` fraction bits.
struct Part {
    int32_t exponent;
    int64_t significand;
};

template <class Format, int32_t PLACES> Part take_apart(uint32_t code)
{
    constexpr int32_t FRACTION = Format::FRACTION;
    uint32_t magnitude = magnitude_of<Format>(code), unit = 1u << FRACTION;
    int64_t significand = (magnitude & (unit - 1)) | (magnitude >= unit ? unit : 0);
    significand = PLACES > FRACTION ? significand << (PLACES - FRACTION)
                                    : significand >> (FRACTION - PLACES);
    int32_t exponent = significand != 0 ? exponent_of<Format>(code) : NO_EXPONENT;
    return {exponent, code & SIGN<Format> ? -significand : significand};
}

// Divides by 2 to the power of `places`, and truncates.
inline int64_t cut(int64_t value, int32_t places)
{
    int64_t magnitude = (value < 0 ? -value : value) >> (places < 63 ? places : 63);
    return value < 0 ? -magnitude : magnitude;
}

// The sum of C and BLOCK products of a line with a lane.
template <class Line, class Lane, class Result, uint32_t BLOCK, uint32_t LANES>
uint32_t add_exactly(Rule rule, const uint32_t *line, const uint32_t (*lanes)[LANES], uint32_t lane,
                     uint32_t c)
{
    // fraction bits of addends and of left factors
    constexpr int32_t FRACTION = 55, LEFT = PART_PLACES<Line>;
    Part addends[BLOCK + 1] = {take_apart<Result, FRACTION>(c)};
    for (uint32_t k = 0; k < BLOCK; ++k) {
        Part left = take_apart<Line, LEFT>(line[k]);
        Part right = take_apart<Lane, FRACTION - LEFT>(lanes[k][lane]);
        addends[k + 1] = {left.exponent + right.exponent, left.significand * right.significand};
    }
    int32_t top = lowest_top<Result>(rule);
    for (const Part &addend : addends)
        top = std::max(top, addend.exponent);
    int64_t total = 0;
    for (const Part &addend : addends)
        total += cut(addend.significand, FRACTION - rule.places + top - addend.exponent);
    double found = std::ldexp(double(total), top - rule.places);
    return Result::BITS == 16 ? round_to_half(found) : cut_to_single(found, rule.fraction);
}

// The float32 result of a sum with infinities or NaNs; 0 for a sum without them.
template <class Line, class Lane, class Result, uint32_t BLOCK, uint32_t LANES>
static uint32_t special_sum(const uint32_t *line, const uint32_t (*lanes)[LANES], uint32_t lane,
                            uint32_t c)
{
    bool undefined = magnitude_of<Result>(c) > INFINITE<Result>, seen[2] = {};
    seen[c / SIGN<Result>] |= magnitude_of<Result>(c) == INFINITE<Result>;
    for (uint32_t k = 0; k < BLOCK; ++k) {
        uint32_t x = line[k], y = lanes[k][lane];
        uint32_t left = magnitude_of<Line>(x), right = magnitude_of<Lane>(y);
        if (left < INFINITE<Line> && right < INFINITE<Lane>)
            continue;
        undefined |= left >= LEAST_NAN<Line> || right >= LEAST_NAN<Lane>;
        undefined |= left == 0 || right == 0;
        seen[(x & SIGN<Line>) / SIGN<Line> ^ (y & SIGN<Lane>) / SIGN<Lane>] = true;
    }
    if (undefined || (seen[0] && seen[1]))
        return NAN_SINGLE;
    return seen[0] ? INFINITE_SINGLE : seen[1] ? SIGN_SINGLE | INFINITE_SINGLE : 0;
}

HOT uint32_t special_half(uint32_t single)
{
    if (single == NAN_SINGLE)
        return NAN_HALF;
    return (single & SIGN_SINGLE ? SIGN_HALF : 0) | INFINITE_HALF;
}

// An element of D: C and K products of a line with a lane, BLOCK products at a time.
template <class Line, class Lane, class Result, uint32_t BLOCK, uint32_t K, uint32_t LANES>
COLD uint32_t multiply_element(Rule rule, const uint32_t (&line)[K],
                               const uint32_t (&lanes)[K][LANES], uint32_t lane, uint32_t c)
{
    for (uint32_t first = 0; first < K; first += BLOCK) {
        uint32_t special = special_sum<Line, Lane, Result, BLOCK>(line + first, lanes + first, lane,
                                                                  c);
        if (special == 0)
            c = add_exactly<Line, Lane, Result, BLOCK>(rule, line + first, lanes + first, lane, c);
        else
            c = Result::BITS == 16 ? special_half(special) : special;
    }
    return c;
}

// --- a product of matrices -----------------------------------------------------------------------

// The lanes whose codes are infinities or NaNs.
template <class Format, uint32_t LANES> HOT Ints<LANES> find_specials(const uint32_t *codes)
{
    constexpr int32_t LEAST = INFINITE<Format>;
    return (load_lanes<Ints<LANES>>(codes) & int32_t(SIGN<Format> - 1)) >= LEAST;
}

// Adds BLOCK products of a line's numbers, from `first` on, with each lane to C, if all numbers are
// ordinary. Returns the lanes where they are not.
template <class Result, uint32_t BLOCK, uint32_t K, uint32_t LANES>
HOT Ints<LANES> add_ordinary(Rule rule, const Numbers<K> &line, const Numbers<LANES> (&lanes)[K],
                             uint32_t first, uint32_t *codes)
{
    constexpr uint32_t PARTS = (BLOCK + 15) / 16; // a word holds the sum of 16 products
    const Numbers<LANES> c = read_numbers<Result, LANES>(codes);
    Ints<LANES> others = find_specials<Result, LANES>(codes), top = c.exponents;
    for (uint32_t k = first; k < first + BLOCK; ++k) {
        Ints<LANES> exponents = line.exponents[k] + lanes[k].exponents;
        top = exponents > top ? exponents : top;
    }
    others |= (top > HIGHEST_ORDINARY) | ((top < LOWEST_ORDINARY) & (top > NO_EXPONENT / 2));
    const int32_t lowest = std::max(lowest_top<Result>(rule), LOWEST_ORDINARY);
    top = (top > lowest ? top : lowest) - rule.places;
    FloatLanes<LANES> unit = power_of_two<LANES>(top), inverse = power_of_two<LANES>(-top);
    Ints<LANES> sums[PARTS + 1] = {};
    for (uint32_t k = 0; k < BLOCK; ++k)
        sums[k / 16] += __builtin_convertvector(
            line.values[first + k] * lanes[first + k].values * inverse, Ints<LANES>);
    sums[PARTS] = __builtin_convertvector(c.values * inverse, Ints<LANES>);
    for (uint32_t n = 0; n < LANES; n += EIGHT) {
        Doubles sum = {};
        for (const Ints<LANES> &part : sums)
            sum += __builtin_convertvector(eight_of<Ints<EIGHT>>(part, n), Doubles);
        round_sums<Result>(rule, sum, eight_of<FloatLanes<EIGHT>>(unit, n), codes + n);
    }
    return others;
}

// Computes lines of D in place of lines of C: products of each line with K vectors in each part,
// BLOCK products at a time.
template <class Line, class Lane, class Result, uint32_t BLOCK, uint32_t PARTS, uint32_t COUNT,
          uint32_t K, uint32_t LANES>
void multiply_lines(Rule rule, const uint32_t (&lines)[COUNT][K],
                    const uint32_t (&lanes)[PARTS][K][LANES],
                    uint32_t (&codes)[PARTS][COUNT][LANES])
{
    uint32_t c[PARTS][COUNT][LANES];
    memcpy(c, codes, sizeof c);
    Numbers<LANES> factors[PARTS][K];
    Ints<LANES> others[PARTS][COUNT], special[PARTS] = {}, any = {};
    Ints<K> in_lines = {};
    for (uint32_t part = 0; part < PARTS; ++part)
        for (uint32_t k = 0; k < K; ++k) {
            factors[part][k] = read_numbers<Lane, LANES>(lanes[part][k]);
            special[part] |= find_specials<Lane, LANES>(lanes[part][k]);
        }
    for (const uint32_t (&line)[K] : lines)
        in_lines |= find_specials<Line, K>(line);
    const int32_t all = is_any(in_lines) ? -1 : 0;
    for (uint32_t line = 0; line < COUNT; ++line) {
        const Numbers<K> left = read_numbers<Line, K>(lines[line]);
        for (uint32_t part = 0; part < PARTS; ++part) {
            others[part][line] = special[part] | all;
            for (uint32_t first = 0; first < K; first += BLOCK)
                others[part][line] |= add_ordinary<Result, BLOCK>(rule, left, factors[part], first,
                                                                  codes[part][line]);
            any |= others[part][line];
        }
    }
    if (likely(!is_any(any)))
        return;
    for (uint32_t part = 0; part < PARTS; ++part)
        for (uint32_t line = 0; line < COUNT; ++line)
            for (uint32_t lane = 0; lane < LANES; ++lane)
                if (others[part][line][lane])
                    codes[part][line][lane] = multiply_element<Line, Lane, Result, BLOCK>(
                        rule, lines[line], lanes[part], lane, c[part][line][lane]);
}

// No architecture has a sum of less than half of the K products.
template <class Line, class Lane, class Result, uint32_t PARTS, uint32_t COUNT, uint32_t K,
          uint32_t LANES>
void multiply(Rule rule, const uint32_t (&lines)[COUNT][K],
              const uint32_t (&lanes)[PARTS][K][LANES], uint32_t (&codes)[PARTS][COUNT][LANES])
{
    if (rule.block_bytes * 8 / Line::BITS < K)
        multiply_lines<Line, Lane, Result, K / 2>(rule, lines, lanes, codes);
    else
        multiply_lines<Line, Lane, Result, K>(rule, lines, lanes, codes);
}

// Instances that several files use are compiled once, in tensor.cpp.
#define DECLARE_MULTIPLY(kind, format, result, k)                                                  \
    kind template void multiply<format, format, result>(                                           \
        Rule, const uint32_t (&)[COLUMNS][k],                                                      \
        const uint32_t (&)[HEIGHT / VECTOR_ROWS][k][VECTOR_ROWS],                                  \
        uint32_t (&)[HEIGHT / VECTOR_ROWS][COLUMNS][VECTOR_ROWS])
#define DECLARE_ALL(kind)                                                                          \
    DECLARE_MULTIPLY(kind, Half, Single, 16);                                                      \
    DECLARE_MULTIPLY(kind, Half, Single, 8);                                                       \
    DECLARE_MULTIPLY(kind, Half, Half, 16);                                                        \
    DECLARE_MULTIPLY(kind, Half, Half, 8);                                                         \
    DECLARE_MULTIPLY(kind, BFloat, Single, 16);                                                    \
    DECLARE_MULTIPLY(kind, BFloat, Single, 8);                                                     \
    DECLARE_MULTIPLY(kind, Single, Single, 8);                                                     \
    DECLARE_MULTIPLY(kind, Single, Single, 4)
DECLARE_ALL(extern);

// The arithmetic of matrices of floats (see fragments.h).
template <class LeftFormat, class RightFormat, class Result> struct Floats {
    using Left = LeftFormat;
    using Right = RightFormat;
    static constexpr bool HALVES = Result::BITS == 16;

    Rule rule;
    bool left_negated = false, right_negated = false;

    // tf32 is float32 without the lowest 13 fraction bits.
    void prepare(uint32_t *codes, uint32_t count, bool is_left) const
    {
        uint32_t sign = (is_left ? left_negated : right_negated) ? SIGN<Left> : 0;
        uint32_t kept = Left::BITS == 32 ? ~0u << (Single::FRACTION - PART_PLACES<Left>) : ~0u;
        for (uint32_t n = 0; (sign != 0 || kept != ~0u) && n < count; ++n)
            codes[n] = (codes[n] ^ sign) & kept;
    }

    template <uint32_t PARTS, uint32_t K, uint32_t LANES>
    void multiply_columns(const uint32_t (&columns)[COLUMNS][K],
                          const uint32_t (&rows)[PARTS][K][LANES],
                          uint32_t (&codes)[PARTS][COLUMNS][LANES]) const
    {
        ::multiply<Right, Left, Result>(rule, columns, rows, codes);
    }

    template <uint32_t K>
    void multiply_row(const uint32_t (&row)[1][K], const uint32_t (&columns)[1][K][COLUMNS],
                      uint32_t (&codes)[1][1][COLUMNS]) const
    {
        ::multiply<Left, Right, Result>(rule, row, columns, codes);
    }
};
