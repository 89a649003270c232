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
    alignas(4 * COUNT) int32_t exponents[COUNT], significands[COUNT];
};

// Returns whether some are infinities or NaNs.
template <class Format, int32_t PLACES, uint32_t COUNT>
HOT bool take_apart(const uint32_t *codes, Parts<COUNT> &parts)
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
    return highest == Format::EXPONENTS;
}

// --- sums ----------------------------------------------------------------------------------------

// Vectors of numbers. GCC keeps them in a vector register where the processor has one; it does not
// vectorise the same loops over arrays.
template <uint32_t LANES> struct Vectors {
    typedef int32_t Ints __attribute__((vector_size(4 * LANES)));
    typedef float Floats __attribute__((vector_size(4 * LANES)));
};
template <uint32_t LANES> using Ints = typename Vectors<LANES>::Ints;
template <uint32_t LANES> using FloatLanes = typename Vectors<LANES>::Floats;

template <class Vector, class T> HOT Vector load_lanes(const T *values)
{
    Vector lanes;
    memcpy(&lanes, values, sizeof lanes);
    return lanes;
}

// Sums of a line's products with each lane, in three parts that fit into words; unit: the last bit
// below the top exponent.
template <uint32_t LANES> struct Sums {
    Ints<LANES> parts[3], top;
};

// Adds values that are truncated at `places` bits.
template <class Vector> HOT void add_cut(const Vector &values, const Vector &places, Vector &sum)
{
    Vector negative = values >> 31, magnitudes = (values ^ negative) - negative;
    magnitudes >>= places < 31 ? places : 31;
    sum += (magnitudes ^ negative) - negative;
}

// The largest exponent of the products of a line with each lane, and of C.
template <uint32_t BLOCK, uint32_t K, uint32_t LANES>
HOT Ints<LANES> find_top(int32_t lowest, const Parts<K> &line, const Parts<LANES> *lanes,
                         const Parts<LANES> &c, uint32_t first)
{
    Ints<LANES> top = load_lanes<Ints<LANES>>(c.exponents);
    top = top > lowest ? top : lowest;
    for (uint32_t k = first; k < first + BLOCK; ++k) {
        Ints<LANES> exponents = line.exponents[k] + load_lanes<Ints<LANES>>(lanes[k].exponents);
        top = exponents > top ? exponents : top;
    }
    return top;
}

// Truncated products for all formats: of integers. The significands of `lanes` are multiples of
// the unit of a sum.
template <uint32_t K, uint32_t LANES> struct IntegerProducts {
    const Parts<K> &line;
    const Parts<LANES> *lanes;
    Ints<LANES> top;

    void add(uint32_t k, Ints<LANES> &sum) const
    {
        Ints<LANES> product = line.significands[k] *
                              load_lanes<Ints<LANES>>(lanes[k].significands);
        Ints<LANES> exponents = load_lanes<Ints<LANES>>(lanes[k].exponents);
        add_cut(product, top - line.exponents[k] - exponents, sum);
    }
};

// float32 holds products of these formats exactly, in every unit of a sum.
template <class Format> constexpr bool NARROW = Format::EXPONENTS <= Half::EXPONENTS;

// Truncated products of narrow formats: of floats, in the unit of the sum. The conversion to
// integers truncates.
template <uint32_t LANES> struct FloatProducts {
    const float *line;
    const float (*lanes)[LANES];
    FloatLanes<LANES> units;

    void add(uint32_t k, Ints<LANES> &sum) const
    {
        FloatLanes<LANES> values = load_lanes<FloatLanes<LANES>>(lanes[k]);
        sum += __builtin_convertvector(line[k] * values * units, Ints<LANES>);
    }
};

// Below this exponent there is no product of narrow formats.
constexpr int32_t BELOW_ALL = -60, SINGLE_BIAS = Single::EXPONENTS / 2;

// 1 over the unit of a sum.
template <uint32_t LANES>
HOT FloatLanes<LANES> invert_units(int32_t places, const Ints<LANES> &top)
{
    Ints<LANES> exponents = (top > BELOW_ALL ? top : BELOW_ALL) - places;
    return reinterpret_cast<FloatLanes<LANES>>((SINGLE_BIAS - exponents) << Single::FRACTION);
}

// Numbers of a narrow format.
template <uint32_t COUNT>
HOT void find_values(int32_t places, const Parts<COUNT> &parts, float *values)
{
    Ints<COUNT> exponents = load_lanes<Ints<COUNT>>(parts.exponents);
    exponents = (exponents > BELOW_ALL ? exponents : BELOW_ALL) + (SINGLE_BIAS - places);
    Ints<COUNT> significands = load_lanes<Ints<COUNT>>(parts.significands);
    FloatLanes<COUNT> found = __builtin_convertvector(significands, FloatLanes<COUNT>);
    found *= reinterpret_cast<FloatLanes<COUNT>>(exponents << Single::FRACTION);
    memcpy(values, &found, sizeof found);
}

// Sums of products and C. A word holds the sum of eight products.
template <uint32_t BLOCK, uint32_t LANES, class Products>
HOT Sums<LANES> add_products(int32_t places, const Products &products, const Parts<LANES> &c,
                             const Ints<LANES> &top, uint32_t first)
{
    constexpr uint32_t TOGETHER = BLOCK < 8 ? BLOCK : 8;
    Sums<LANES> sums = {{}, top};
    for (uint32_t done = 0; done < BLOCK; done += TOGETHER) {
        Ints<LANES> sum = {};
        for (uint32_t k = first + done; k < first + done + TOGETHER; ++k)
            products.add(k, sum);
        sums.parts[done / 8 % 2] += sum;
    }
    int32_t more = places - int32_t(Single::FRACTION), less = more < 0 ? -more : 0;
    int32_t scale = 1 << (more > 0 ? more : 0);
    Ints<LANES> exponents = load_lanes<Ints<LANES>>(c.exponents);
    Ints<LANES> significands = load_lanes<Ints<LANES>>(c.significands) * scale;
    add_cut(significands, top - exponents + less, sums.parts[2]);
    return sums;
}

constexpr uint32_t EIGHT = 8;
typedef int64_t Longs __attribute__((vector_size(8 * EIGHT)));
typedef double Doubles __attribute__((vector_size(8 * EIGHT)));

// Eight sums as float64, exactly.
template <uint32_t LANES>
HOT Doubles join_parts(int32_t places, const Sums<LANES> &sums, uint32_t first)
{
    auto eight = [first](const Ints<LANES> &all) {
        return load_lanes<Ints<EIGHT>>(reinterpret_cast<const int32_t *>(&all) + first);
    };
    Doubles sum = {};
    for (const Ints<LANES> &part : sums.parts)
        sum += __builtin_convertvector(eight(part), Doubles);
    Longs exponents = __builtin_convertvector(eight(sums.top), Longs) + (1023 - places);
    return sum * reinterpret_cast<Doubles>(exponents << 52);
}

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

// The same for eight sums. Those below the least normal number, which are rare, are cut one by one.
HOT void cut_to_singles(const Doubles &sums, uint32_t fraction, uint32_t *found)
{
    Longs bits = reinterpret_cast<Longs>(sums), magnitudes = bits & INT64_MAX;
    Longs small = (magnitudes != 0) & (magnitudes < bits_as<int64_t>(LEAST_NORMAL));
    Longs kept = bits & int64_t(~uint64_t(0) << (52 - fraction));
    FloatLanes<EIGHT> cut =
        __builtin_convertvector(reinterpret_cast<Doubles>(kept), FloatLanes<EIGHT>) + 0.0f;
    memcpy(found, &cut, sizeof cut);
    int64_t any = 0;
    for (uint32_t n = 0; n < EIGHT; ++n)
        any |= small[n];
    for (uint32_t n = 0; unlikely(any != 0) && n < EIGHT; ++n)
        found[n] = cut_to_single(sums[n], fraction);
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
template <class Line, class Lane, class Result, uint32_t LANES>
static uint32_t special_sum(const uint32_t *line, const uint32_t (*lanes)[LANES], uint32_t lane,
                            uint32_t c, uint32_t first, uint32_t end)
{
    bool undefined = (c & (SIGN<Result> - 1)) > INFINITE<Result>, seen[2] = {};
    seen[c / SIGN<Result>] |= (c & (SIGN<Result> - 1)) == INFINITE<Result>;
    for (uint32_t k = first; k < end; ++k) {
        uint32_t x = line[k], y = lanes[k][lane];
        uint32_t left = x & (SIGN<Line> - 1), right = y & (SIGN<Lane> - 1);
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

// --- a product of matrices -----------------------------------------------------------------------

// Replaces the results of sums with infinities or NaNs in one block of a line's products.
template <class Line, class Lane, class Result, uint32_t LANES>
COLD void set_specials(const uint32_t *line, const uint32_t (*lanes)[LANES], const uint32_t *c,
                       uint32_t first, uint32_t end, uint32_t *found)
{
    for (uint32_t n = 0; n < LANES; ++n) {
        uint32_t special = special_sum<Line, Lane, Result>(line, lanes, n, c[n], first, end);
        if (special != 0)
            found[n] = Result::BITS == 16 ? special_half(special) : special;
    }
}

// Factors of K products of each lane.
template <uint32_t K, uint32_t LANES> struct Factors {
    Parts<LANES> parts[K];
    alignas(4 * LANES) float values[K][LANES]; // of narrow formats
    bool special = false;
};

// Computes lines of D in place of lines of C. BLOCK products are added at a time.
template <class Line, class Lane, class Result, uint32_t BLOCK, uint32_t PARTS, uint32_t COUNT,
          uint32_t K, uint32_t LANES>
void multiply_lines(Rule rule, const uint32_t (&lines)[COUNT][K],
                    const uint32_t (&lanes)[PARTS][K][LANES], const Factors<K, LANES> *factors,
                    uint32_t (&codes)[PARTS][COUNT][LANES])
{
    constexpr bool TO_HALF = Result::BITS == 16;
    const int32_t lowest = (TO_HALF ? LOWEST_TO_HALF : LOWEST_TO_SINGLE) - rule.places;
    for (uint32_t line = 0; line < COUNT; ++line) {
        Parts<K> left;
        float values[K];
        bool special = take_apart<Line, PART_PLACES<Line>>(lines[line], left);
        if constexpr (NARROW<Line>)
            find_values(PART_PLACES<Line>, left, values);
        for (uint32_t n = 0; n < PARTS * K / BLOCK; ++n) {
            uint32_t part = n % PARTS, first = n / PARTS * BLOCK;
            const Factors<K, LANES> &right = factors[part];
            uint32_t *sum = codes[part][line];
            Parts<LANES> c;
            bool special_c = take_apart<Result, int32_t(Single::FRACTION)>(sum, c);
            uint32_t found[LANES];
            Sums<LANES> sums;
            Ints<LANES> top = find_top<BLOCK>(lowest, left, right.parts, c, first);
            if constexpr (NARROW<Line>) {
                FloatProducts<LANES> of{values, right.values,
                                        invert_units<LANES>(rule.places, top)};
                sums = add_products<BLOCK>(rule.places, of, c, top, first);
            } else {
                IntegerProducts<K, LANES> of{left, right.parts, top};
                sums = add_products<BLOCK>(rule.places, of, c, top, first);
            }
            for (uint32_t eight = 0; eight < LANES; eight += EIGHT) {
                Doubles joined = join_parts<LANES>(rule.places, sums, eight);
                if constexpr (TO_HALF)
                    for (uint32_t lane = 0; lane < EIGHT; ++lane)
                        found[eight + lane] = round_to_half(joined[lane]);
                else
                    cut_to_singles(joined, rule.fraction, found + eight);
            }
            if (unlikely(special || special_c || right.special))
                set_specials<Line, Lane, Result>(lines[line], lanes[part], sum, first,
                                                 first + BLOCK, found);
            memcpy(sum, found, sizeof found);
        }
    }
}

// Computes lines of D in place of lines of C: products of each line with K vectors in each part. No
// architecture has a sum of less than half of the K products.
template <class Line, class Lane, class Result, uint32_t PARTS, uint32_t COUNT, uint32_t K,
          uint32_t LANES>
void multiply(Rule rule, const uint32_t (&lines)[COUNT][K],
              const uint32_t (&lanes)[PARTS][K][LANES], uint32_t (&codes)[PARTS][COUNT][LANES])
{
    constexpr int32_t PART = PART_PLACES<Lane>;
    Factors<K, LANES> factors[PARTS];
    for (uint32_t n = 0; n < PARTS * K; ++n) {
        uint32_t part = n / K, k = n % K;
        Parts<LANES> &parts = factors[part].parts[k];
        factors[part].special |= take_apart<Lane, PART>(lanes[part][k], parts);
        if constexpr (NARROW<Lane>)
            find_values(PART, parts, factors[part].values[k]);
        else
            for (int32_t &significand : parts.significands)
                significand *= 1 << (rule.places - 2 * PART);
    }
    if (rule.block_bytes * 8 / Line::BITS < K)
        multiply_lines<Line, Lane, Result, K / 2>(rule, lines, lanes, factors, codes);
    else
        multiply_lines<Line, Lane, Result, K>(rule, lines, lanes, factors, codes);
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
