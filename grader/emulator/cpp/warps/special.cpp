// The special-function unit (MUFU), bit for bit: reciprocals, roots, exp2, log2, sin, cos, tanh.
//
// The upper bits of an argument choose a row of coefficients; with the lower bits x the result is
// value + slope * x + curve * square(x) in fixed point, truncated (Oberman and Siu, "A
// High-Performance Area-Efficient Multifunction Interpolator", ARITH-17; US patent 7366745). The
// rest is derived from an H200's results: the coefficients, the constants added before truncation,
// the columns that the square omits, the exponents at which tanh changes its step.
//
// Each step is a loop over the lanes that compilers vectorise.
#include "warps/lanes.h"
#include "warps/special_tables.h"

using Words = uint32_t[WARP_LANES];
using Sums = uint64_t[WARP_LANES];

constexpr uint32_t NOT_A_NUMBER = 0x7FFFFFFF, INFINITE = 0x7F800000, ONE = 0x3F800000;
constexpr uint32_t SIGN = 0x80000000, FRACTION = 0x007FFFFF;

// --- the polynomial ------------------------------------------------------------------------------

// Each row in one 64-bit word, so that a lane loads once: curve in bits 0 to 15, slope in 16 to 36,
// value from 37.
template <uint32_t ROWS> struct Table {
    uint64_t rows[ROWS] = {};

    constexpr Table(const uint32_t (&coefficients)[ROWS][3])
    {
        for (uint32_t n = 0; n < ROWS; ++n)
            rows[n] = uint64_t(coefficients[n][0]) << 37 | uint64_t(coefficients[n][1]) << 16 |
                      coefficients[n][2];
    }
};

// Shifts of value and curve, signs of slope and curve, and the constant added before truncation.
struct Polynomial {
    const uint64_t *rows;
    uint32_t value_shift, curve_shift;
    bool falls, bends_down;
    uint64_t addend;
};

constexpr Table RECIPROCALS(RECIPROCAL), RECIPROCAL_ROOTS(RECIPROCAL_ROOT), ROOTS(SQUARE_ROOT);
constexpr Table POWERS(EXP2), LOGARITHMS(LOG2), SINES(SINE);
constexpr Table TANGENTS(TANGENT);
constexpr Polynomial RCP{RECIPROCALS.rows, 13, 0, true, false, 0x47E7};
constexpr Polynomial RSQ{RECIPROCAL_ROOTS.rows, 14, 2, true, false, 0x7FFF};
constexpr Polynomial SQRT{ROOTS.rows, 15, 1, false, true, 0x7FFF};
constexpr Polynomial EX2{POWERS.rows, 13, 0, false, false, 0x77E2};
constexpr Polynomial LG2{LOGARITHMS.rows, 12, 1, false, true, 0x3345};
constexpr Polynomial SIN{SINES.rows, 11, 0, false, true, 0};
constexpr Polynomial TANH{TANGENTS.rows, 18, 4, false, true, 0};

// Per lane: the row, the lower bits, and the upper 16 of the lower bits, which are squared.
struct Arguments {
    Words row, rest;
    uint16_t squared[WARP_LANES];
};

// x * x >> 17 for 16 bits. The unit adds the products of bit pairs only in columns from 2^16 up:
// all pairs of the upper half, and other pairs whose positions sum to 16 or more.
HOT uint16_t square(uint16_t x)
{
    uint16_t sum = uint16_t((x >> 8) * (x >> 8)) >> 1;
    sum += (x >> 12) * (x >> 4 & 15) + (x >> 14) * (x >> 2 & 3) + (x >> 10 & 3) * (x >> 6 & 3);
    sum += (x >> 15 & x >> 1 & 1) + (x >> 13 & x >> 3 & 1);
    return sum + (x >> 11 & x >> 5 & 1) + (x >> 9 & x >> 7 & 1);
}

HOT void evaluate(const Polynomial &polynomial, const Arguments &arguments, Sums &sums)
{
    uint64_t rows[WARP_LANES];
    uint16_t squares[WARP_LANES];
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        squares[lane] = square(arguments.squared[lane]);
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t row = arguments.row[lane];
        asm("" : "+r"(row)); // separate loads: a gather is slower
        rows[lane] = polynomial.rows[row];
    }
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint64_t slope = (rows[lane] >> 16 & 0x1FFFFF) * arguments.rest[lane];
        uint64_t curve = (rows[lane] & 0xFFFF) * squares[lane] << polynomial.curve_shift;
        uint64_t sum = (rows[lane] >> 37 << polynomial.value_shift) + polynomial.addend;
        sum += polynomial.falls ? -slope : slope;
        sums[lane] = sum + (polynomial.bends_down ? -curve : curve);
    }
}

// Evaluates fractions: the lower `bits` bits are x, the bits above are the row.
HOT void evaluate(const Polynomial &polynomial, const Words &fractions, uint32_t bits, Sums &sums)
{
    Arguments arguments;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        arguments.row[lane] = fractions[lane] >> bits;
        arguments.rest[lane] = fractions[lane] & ((1u << bits) - 1);
        arguments.squared[lane] = uint16_t(fractions[lane] >> (bits - 16));
    }
    evaluate(polynomial, arguments, sums);
}

// The float32 of sum * 2^scale, truncated; sum < 2^52.
HOT uint32_t to_single(uint64_t sum, int32_t scale)
{
    constexpr double whole = 0x1p52;
    double value = bits_as<double>(bits_as<uint64_t>(whole) | sum) - whole;
    uint64_t bits = bits_as<uint64_t>(value);
    return sum == 0 ? 0 : uint32_t(bits >> 29) + (uint32_t(scale + 127 - 1023) << 23);
}

// --- reciprocals and roots -----------------------------------------------------------------------

// float32, or the upper word of float64: fraction bits, exponent of infinity.
struct Format {
    uint32_t places, highest;

    uint32_t bias() const { return highest / 2; }
    uint32_t infinity() const { return highest << places; }
    uint32_t exponent(uint32_t word) const { return word >> places & highest; }
    bool is_nan(uint32_t word) const { return (word & ~SIGN) > infinity(); }
};

constexpr Format SINGLE{23, 255}, UPPER{20, 2047};

HOT void reciprocals(Words &words, Format format)
{
    Words fractions;
    Sums sums;
    uint32_t left_out = SINGLE.places - format.places, smallest = 1u << format.places;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        fractions[lane] = (words[lane] & (smallest - 1)) << left_out;
    evaluate(RCP, fractions, 16, sums);
    uint32_t scale = (2 * format.bias() - 2) << format.places;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t word = words[lane], power = word & format.infinity();
        uint32_t result = uint32_t(sums[lane] >> (15 + left_out)) + scale - power;
        result = int32_t(result) < int32_t(smallest) ? 0 : result;
        result = power == 0 ? format.infinity() : result;
        words[lane] = format.is_nan(word) ? NOT_A_NUMBER : result | (word & SIGN);
    }
}

// The argument of a root is the fraction with the lowest exponent bit. The bias is odd: exponent
// bit 0 means arguments in [2, 4); the bit is inverted.
HOT uint32_t fraction_of_root(uint32_t word, Format format)
{
    uint32_t lowest = 1u << format.places;
    return ((word ^ lowest) & (2 * lowest - 1)) << (SINGLE.places - format.places);
}

// Half of the remaining exponent, biased by (bias + 1) / 2, in the exponent's position.
HOT uint32_t power_of_root(uint32_t word, Format format)
{
    return (word + (1u << format.places)) >> 1 & format.infinity();
}

HOT void reciprocal_roots(Words &words, Format format)
{
    Words fractions;
    Sums sums;
    uint32_t left_out = SINGLE.places - format.places;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        fractions[lane] = fraction_of_root(words[lane], format);
    evaluate(RSQ, fractions, 17, sums);
    uint32_t scale = (format.bias() - 2 + (format.bias() + 1) / 2) << format.places;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t word = words[lane], sum = uint32_t(sums[lane] >> (16 + left_out));
        sum = fractions[lane] == 0 ? 2u << format.places : sum; // powers of 4 are exact
        uint32_t result = sum + scale - power_of_root(word, format);
        result = word == format.infinity() ? 0 : word > format.infinity() ? NOT_A_NUMBER : result;
        words[lane] = format.exponent(word) == 0 ? format.infinity() | (word & SIGN) : result;
    }
}

HOT void roots(Words &words)
{
    Words fractions;
    Sums sums;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        fractions[lane] = fraction_of_root(words[lane], SINGLE);
    evaluate(SQRT, fractions, 17, sums);
    uint32_t scale = (SINGLE.bias() - 1 - (SINGLE.bias() + 1) / 2) << SINGLE.places;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t word = words[lane];
        uint32_t result = uint32_t(sums[lane] >> 17) + scale + power_of_root(word, SINGLE);
        result = word == INFINITE ? INFINITE : word > INFINITE ? NOT_A_NUMBER : result;
        words[lane] = SINGLE.exponent(word) == 0 ? word & SIGN : result;
    }
}

// --- powers and logarithms -----------------------------------------------------------------------

HOT void powers(Words &words)
{
    Words wholes, fractions;
    Sums sums;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t word = words[lane], exponent = SINGLE.exponent(word);
        uint32_t significand = (word & FRACTION) | (exponent == 0 ? 0 : 1u << 23);
        uint32_t right = 134 - exponent; // 7 integer bits and 23 fraction bits
        uint32_t fixed = (significand << 7) >> (right < 31 ? right : 31);
        // The bits of a negative number are inverted: the result is 2^-23 too small, except for
        // integers.
        fixed = int32_t(word) < 0 ? (fixed & FRACTION ? ~fixed : -fixed) : fixed;
        wholes[lane] = fixed & ~FRACTION;
        fractions[lane] = fixed & FRACTION;
    }
    evaluate(EX2, fractions, 17, sums);
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t word = words[lane];
        uint32_t result = uint32_t(sums[lane] >> 15) + wholes[lane] + (126u << 23);
        result = int32_t(result) < int32_t(1u << 23) ? 0 : result;
        uint32_t beyond = int32_t(word) < 0 ? 0 : INFINITE;
        result = SINGLE.exponent(word) >= 134 ? beyond : result;
        words[lane] = SINGLE.is_nan(word) ? NOT_A_NUMBER : result;
    }
}

HOT void logarithms(Words &words)
{
    Words fractions;
    Sums sums;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        fractions[lane] = words[lane] & FRACTION;
    evaluate(LG2, fractions, 17, sums);
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t word = words[lane];
        int64_t whole = int64_t(uint64_t(int64_t(SINGLE.exponent(word)) - 127) << 36);
        int64_t sum = whole + (word == ONE ? 0 : int64_t(sums[lane] >> 2));
        uint32_t sign = sum < 0 ? SIGN : 0;
        uint32_t result = to_single(sum < 0 ? ~sum : sum, -36) | sign;
        result = word == INFINITE ? INFINITE : word > INFINITE ? NOT_A_NUMBER : result;
        words[lane] = SINGLE.exponent(word) == 0 ? SIGN | INFINITE : result;
    }
}

// --- sine, cosine, tangent -----------------------------------------------------------------------

// sin(2 pi x), or cos as the sine a quarter turn later.
HOT void sines(Words &words, bool cosine)
{
    Words fractions, signs;
    Sums sums;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t word = words[lane], exponent = SINGLE.exponent(word);
        uint32_t significand = (word & FRACTION) | (exponent == 0 ? 0 : 1u << 23);
        uint32_t left = exponent - 125, right = 125 - exponent; // quarters, 23 fraction bits
        uint32_t fixed = exponent >= 125 ? significand << (left < 31 ? left : 31)
                                         : significand >> (right < 31 ? right : 31);
        uint32_t quarter = (fixed >> 23) + cosine;
        fractions[lane] = (quarter & 1 ? ~fixed : fixed) & FRACTION;
        signs[lane] = (cosine ? 0 : word & SIGN) ^ (quarter << 30 & SIGN);
    }
    evaluate(SIN, fractions, 17, sums);
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t result = to_single(sums[lane], -37) | signs[lane];
        words[lane] = SINGLE.exponent(words[lane]) == 255 ? NOT_A_NUMBER : result;
    }
}

// For arguments in [2^(e - 127), 2^(e - 126)), e from 119: fraction bits that are dropped, and the
// first row.
constexpr uint32_t TANH_FIRST = 119, TANH_LAST = 129;
constexpr uint8_t TANH_LEFT_OUT[] = {6, 6, 6, 5, 5, 4, 4, 4, 3, 2, 3};
constexpr uint8_t TANH_ROW[] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};

HOT void tangents(Words &words)
{
    Arguments arguments;
    Sums sums;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t exponent = SINGLE.exponent(words[lane]), fraction = words[lane] & FRACTION;
        bool inside = TANH_FIRST <= exponent && exponent <= TANH_LAST;
        uint32_t binade = inside ? exponent - TANH_FIRST : 0;
        uint32_t left_out = TANH_LEFT_OUT[binade], kept = fraction >> left_out;
        arguments.row[lane] = TANH_ROW[binade] + (inside ? kept >> 17 : 0);
        arguments.rest[lane] = (kept & 0x1FFFF) << left_out;
        arguments.squared[lane] = uint16_t(kept >> 1);
    }
    evaluate(TANH, arguments, sums);
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t word = words[lane], exponent = SINGLE.exponent(word);
        uint32_t result = to_single(sums[lane], int32_t(exponent < 126 ? exponent : 126) - 168);
        result = exponent < TANH_FIRST ? word & ~SIGN : exponent > TANH_LAST ? ONE : result;
        words[lane] = SINGLE.is_nan(word) ? NOT_A_NUMBER : result | (word & SIGN);
    }
}

// --- what kernels call ---------------------------------------------------------------------------

EXPORT void emulator_mufu_rcp(Words &words) { reciprocals(words, SINGLE); }
EXPORT void emulator_mufu_rcp64h(Words &words) { reciprocals(words, UPPER); }
EXPORT void emulator_mufu_rsq(Words &words) { reciprocal_roots(words, SINGLE); }
EXPORT void emulator_mufu_rsq64h(Words &words) { reciprocal_roots(words, UPPER); }
EXPORT void emulator_mufu_sqrt(Words &words) { roots(words); }
EXPORT void emulator_mufu_ex2(Words &words) { powers(words); }
EXPORT void emulator_mufu_lg2(Words &words) { logarithms(words); }
EXPORT void emulator_mufu_sin(Words &words) { sines(words, false); }
EXPORT void emulator_mufu_cos(Words &words) { sines(words, true); }
EXPORT void emulator_mufu_tanh(Words &words) { tangents(words); }

// Truncates float32 results to halves in the lower half of the words.
EXPORT void emulator_cut_to_half(Words &words)
{
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t magnitude = words[lane] & ~SIGN, exponent = magnitude >> 23;
        uint32_t right = 113 + 13 - exponent; // for the significand of a denormal
        uint32_t significand = (magnitude & FRACTION) | 1u << 23;
        uint32_t denormal = exponent < 113 ? significand >> (right < 31 ? right : 31) : 0;
        uint32_t normal = exponent < 113 ? 0 : (magnitude >> 13) - (112u << 10);
        uint32_t half = exponent >= 143 ? 0x7C00 : denormal + normal;
        half = magnitude > INFINITE ? 0x7FFF : half;
        words[lane] = half | (words[lane] >> 16 & 0x8000);
    }
}
