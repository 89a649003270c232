// Products of matrices of floats: D = A * B + C, bit for bit.
//
// Products are exact. Products and C are truncated at one bit, `places` bits below their largest
// exponent, and added exactly; the sum is truncated to float32 or rounded to the nearest half. The
// rule is that of "MMA-Sim" (arXiv 2511.10909); an H200 agrees in a million tiles of each form.
#pragma once

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

// --- numbers taken apart -------------------------------------------------------------------------

template <class Format> constexpr uint32_t SIGN = 1u << (Format::BITS - 1);
template <class Format> constexpr uint32_t INFINITE = Format::EXPONENTS << Format::FRACTION;
template <class Format> constexpr uint32_t LEAST_NAN = INFINITE<Format> + 1;
// This format has no infinities and one NaN.
template <> constexpr uint32_t INFINITE<Exponents4> = 0x7F;
template <> constexpr uint32_t LEAST_NAN<Exponents4> = 0x7F;

// Exponents, and signed significands with `PLACES` fraction bits. Zeros have NO_EXPONENT.
template <uint32_t COUNT> struct Parts {
    int32_t exponents[COUNT], significands[COUNT];
    bool special; // some are infinities or NaNs
};

template <class Format, int32_t PLACES, uint32_t COUNT>
HOT void take_apart(const uint32_t *codes, Parts<COUNT> &parts)
{
    constexpr int32_t FRACTION = Format::FRACTION, BIAS = Format::EXPONENTS / 2;
    uint32_t highest = 0;
    for (uint32_t n = 0; n < COUNT; ++n) {
        uint32_t code = codes[n], biased = code >> FRACTION & Format::EXPONENTS;
        uint32_t fraction = code & ((1u << FRACTION) - 1);
        fraction = PLACES > FRACTION ? fraction << (PLACES - FRACTION)
                                     : fraction >> (FRACTION - PLACES);
        int32_t significand = fraction | (biased != 0 ? 1u << PLACES : 0);
        int32_t exponent = int32_t(biased != 0 ? biased : 1) - BIAS;
        parts.exponents[n] = significand != 0 ? exponent : NO_EXPONENT;
        parts.significands[n] = code & SIGN<Format> ? -significand : significand;
        highest = larger(highest, biased);
    }
    parts.special = highest == Format::EXPONENTS;
}

// --- sums ----------------------------------------------------------------------------------------

// A value of each column of a row. GCC keeps it in a vector register where the processor has one;
// it does not vectorise the same loops over arrays.
typedef int32_t Row __attribute__((vector_size(4 * COLUMNS)));
typedef int64_t WideRow __attribute__((vector_size(8 * COLUMNS)));
typedef double DoubleRow __attribute__((vector_size(8 * COLUMNS)));

// Sums of a row's products with each column, in three parts that fit into words; unit: the last bit
// below the top exponent.
struct Sums {
    Row parts[3], top;
};

HOT Row load_row(const int32_t *values)
{
    Row row;
    memcpy(&row, values, sizeof row);
    return row;
}

// Adds values that are truncated at `places` bits.
HOT void add_cut(const Row &values, const Row &places, Row &sum)
{
    Row negative = values >> 31, magnitudes = (values ^ negative) - negative;
    magnitudes >>= places < 31 ? places : 31;
    sum += (magnitudes ^ negative) - negative;
}

// The significands of `b` are multiples of this unit.
template <uint32_t K>
HOT void add_products(int32_t places, int32_t lowest, const Parts<K> &a, const Parts<COLUMNS> *b,
                      const Parts<COLUMNS> &c, uint32_t first, uint32_t end, Sums &sums)
{
    Row exponents = load_row(c.exponents), top = exponents > lowest ? exponents : lowest;
    for (uint32_t k = first; k < end; ++k) {
        Row exponent = a.exponents[k] + load_row(b[k].exponents);
        top = exponent > top ? exponent : top;
    }
    sums.top = top;
    sums.parts[0] = sums.parts[1] = sums.parts[2] = Row{};
    for (uint32_t eight = first; eight < end; eight += 8)
        for (uint32_t k = eight; k < smaller(eight + 8, end); ++k) {
            Row product = a.significands[k] * load_row(b[k].significands);
            Row below = top - a.exponents[k] - load_row(b[k].exponents);
            add_cut(product, below, sums.parts[eight / 8 % 2]);
        }
    int32_t more = places - int32_t(Single::FRACTION), less = more < 0 ? -more : 0;
    int32_t scale = 1 << (more > 0 ? more : 0);
    add_cut(load_row(c.significands) * scale, top - exponents + less, sums.parts[2]);
}

// The sums as float64, exactly.
HOT void join_parts(int32_t places, const Sums &sums, double *joined)
{
    DoubleRow sum = {};
    for (const Row &part : sums.parts)
        sum += __builtin_convertvector(part, DoubleRow);
    WideRow exponents = __builtin_convertvector(sums.top, WideRow) + (1023 - places);
    sum *= reinterpret_cast<DoubleRow>(exponents << 52);
    memcpy(joined, &sum, sizeof sum);
}

// Truncates to float32 with `fraction` fraction bits; infinite beyond its range. Zeros are
// positive.
HOT uint32_t cut_to_single(double sum, uint32_t fraction)
{
    constexpr double LEAST_NORMAL = 0x1p-126, STEP = 0x1p-149;
    double normal = bits_as<double>(bits_as<uint64_t>(sum) & ~uint64_t(0) << (52 - fraction));
    if (unlikely(std::fabs(sum) < LEAST_NORMAL))
        normal = std::trunc(sum / STEP) * STEP;
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

// --- infinities and NaNs -------------------------------------------------------------------------

// The float32 result of a sum with infinities or NaNs; 0 for a sum without them.
template <class Left, class Right, class Result>
static uint32_t special_sum(const uint32_t *a, const uint32_t (*b)[COLUMNS], uint32_t column,
                            uint32_t c, uint32_t first, uint32_t end)
{
    bool undefined = (c & (SIGN<Result> - 1)) > INFINITE<Result>, seen[2] = {};
    seen[c / SIGN<Result>] |= (c & (SIGN<Result> - 1)) == INFINITE<Result>;
    for (uint32_t k = first; k < end; ++k) {
        uint32_t left = a[k] & (SIGN<Left> - 1), right = b[k][column] & (SIGN<Right> - 1);
        if (left < INFINITE<Left> && right < INFINITE<Right>)
            continue;
        undefined |= left >= LEAST_NAN<Left> || right >= LEAST_NAN<Right>;
        undefined |= left == 0 || right == 0;
        seen[(a[k] & SIGN<Left>) / SIGN<Left> ^ (b[k][column] & SIGN<Right>) / SIGN<Right>] = true;
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

// --- a product of matrices -----------------------------------------------------------------------

// Replaces the results of sums with infinities or NaNs in one block of a row's products.
template <class Left, class Right, class Result>
COLD void set_specials(const uint32_t *a, const uint32_t (*b)[COLUMNS], const uint32_t *c,
                       uint32_t first, uint32_t end, uint32_t *found)
{
    for (uint32_t n = 0; n < COLUMNS; ++n) {
        uint32_t special = special_sum<Left, Right, Result>(a, b, n, c[n], first, end);
        if (special != 0)
            found[n] = Result::BITS == 16 ? special_half(special) : special;
    }
}

// Computes rows of D in place of rows of C.
template <class Left, class Right, class Result, uint32_t K>
void multiply(Rule rule, uint32_t rows, const uint32_t (*left)[K], const uint32_t (*right)[COLUMNS],
              uint32_t (*codes)[COLUMNS])
{
    constexpr bool TO_HALF = Result::BITS == 16;
    constexpr int32_t PART = PART_PLACES<Left>;
    const int32_t lowest = (TO_HALF ? LOWEST_TO_HALF : LOWEST_TO_SINGLE) - rule.places;
    uint32_t block = rule.block_bytes * 8 / Left::BITS;
    Parts<COLUMNS> b[K];
    bool special = false;
    for (uint32_t k = 0; k < K; ++k) {
        take_apart<Right, PART>(right[k], b[k]);
        special |= b[k].special;
        for (int32_t &significand : b[k].significands)
            significand *= 1 << (rule.places - 2 * PART);
    }
    for (uint32_t row = 0; row < rows; ++row) {
        Parts<K> a;
        take_apart<Left, PART>(left[row], a);
        for (uint32_t first = 0; first < K; first += block) {
            Parts<COLUMNS> c;
            take_apart<Result, int32_t(Single::FRACTION)>(codes[row], c);
            uint32_t end = smaller(first + block, K), found[COLUMNS];
            Sums sums;
            double joined[COLUMNS];
            add_products<K>(rule.places, lowest, a, b, c, first, end, sums);
            join_parts(rule.places, sums, joined);
            for (uint32_t n = 0; n < COLUMNS; ++n)
                found[n] = TO_HALF ? round_to_half(joined[n])
                                   : cut_to_single(joined[n], rule.fraction);
            if (unlikely(special || a.special || c.special))
                set_specials<Left, Right, Result>(left[row], right, codes[row], first, end, found);
            memcpy(codes[row], found, sizeof found);
        }
    }
}

// Instances that several files use are compiled once, in tensor.cpp.
#define DECLARE_MULTIPLY(kind, format, result, k)                                                  \
    kind template void multiply<format, format, result, k>(                                        \
        Rule, uint32_t, const uint32_t (*)[k], const uint32_t (*)[COLUMNS], uint32_t (*)[COLUMNS])
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

    template <uint32_t K>
    void multiply(uint32_t rows, const uint32_t (*left)[K], const uint32_t (*right)[COLUMNS],
                  uint32_t (*codes)[COLUMNS]) const
    {
        ::multiply<Left, Right, Result, K>(rule, rows, left, right, codes);
    }
};
