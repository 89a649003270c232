#include "memory/reductions.h"

#include <type_traits>

#include "memory/halves.h"

uint32_t element_bytes(uint32_t type)
{
    constexpr uint8_t BYTES[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
    return type < sizeof BYTES ? BYTES[type] : 0;
}

// --- integers ------------------------------------------------------------------------------------

template <class Number> static Number combine_integers(uint32_t operation, Number old, Number with)
{
    using Unsigned = std::make_unsigned_t<Number>; // signed sums wrap around on the GPU
    switch (operation) {
    case ReductionForm::ADD:
        return Number(Unsigned(old) + Unsigned(with));
    case ReductionForm::MIN:
        return old < with ? old : with;
    case ReductionForm::MAX:
        return old > with ? old : with;
    case ReductionForm::INC:
        return old >= with ? 0 : old + 1;
    case ReductionForm::DEC:
        return old == 0 || old > with ? with : old - 1;
    case ReductionForm::AND:
        return old & with;
    case ReductionForm::OR:
        return old | with;
    default:
        return old ^ with;
    }
}

// --- floats --------------------------------------------------------------------------------------

// A float32 sum of two halves or two bfloat16, rounded again, equals the sum rounded once: float32
// has more than twice their digits.
struct Half {
    static constexpr uint32_t SIGN = 0x8000, INFINITE = 0x7C00, NAN_BITS = 0x7FFF;
    static float widen(uint32_t bits) { return half_to_float(bits); }
    static uint32_t narrow(float value);
};

struct Bfloat {
    static constexpr uint32_t SIGN = 0x8000, INFINITE = 0x7F80, NAN_BITS = 0x7FFF;
    static float widen(uint32_t bits) { return bits_as<float>(bits << 16); }
    static uint32_t narrow(float value);
};

// Rounds to nearest, ties to even.
uint32_t Half::narrow(float value)
{
    uint32_t sign = bits_as<uint32_t>(value) >> 16 & SIGN;
    float magnitude = std::fabs(value);
    if (magnitude >= 65520.0f)
        return sign | INFINITE;
    int exponent = magnitude < 0x1p-14f ? -14 : std::ilogb(magnitude);
    uint32_t significand = uint32_t(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    return sign | (uint32_t(exponent + 14) * 0x400 + significand);
}

uint32_t Bfloat::narrow(float value)
{
    uint32_t bits = bits_as<uint32_t>(value);
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

// -0 is less than +0.
static bool is_below(float a, float b)
{
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

template <class Format>
static uint16_t combine_short(uint32_t operation, uint32_t old, uint32_t with)
{
    bool old_counts = (old & ~Format::SIGN) <= Format::INFINITE;
    bool with_counts = (with & ~Format::SIGN) <= Format::INFINITE;
    bool adds = operation == ReductionForm::ADD;
    if (!old_counts || !with_counts) {
        if (adds || (!old_counts && !with_counts))
            return Format::NAN_BITS;
        return old_counts ? old : with;
    }
    if (!adds) {
        bool below = is_below(Format::widen(old), Format::widen(with));
        return below == (operation == ReductionForm::MIN) ? old : with;
    }
    bool old_ends = (old & ~Format::SIGN) == Format::INFINITE;
    bool with_ends = (with & ~Format::SIGN) == Format::INFINITE;
    if (old_ends || with_ends)
        return old_ends && with_ends && old != with ? Format::NAN_BITS : old_ends ? old : with;
    return Format::narrow(Format::widen(old) + Format::widen(with));
}

static uint32_t flush(uint32_t bits)
{
    constexpr uint32_t SIGN = 0x80000000, NORMAL = 0x7F800000;
    return bits & NORMAL ? bits : bits & SIGN;
}

static uint32_t add_floats(uint32_t old, uint32_t with, bool flushes)
{
    constexpr uint32_t CANONICAL = 0x7FFFFFFF;
    if (flushes)
        old = flush(old), with = flush(with);
    float sum = bits_as<float>(old) + bits_as<float>(with);
    if (std::isnan(sum))
        return CANONICAL;
    return flushes ? flush(bits_as<uint32_t>(sum)) : bits_as<uint32_t>(sum);
}

// --- elements ------------------------------------------------------------------------------------

template <class Number, class Combined>
static void combine_each(uint8_t *memory, const uint8_t *operand, uint32_t bytes, Combined combined)
{
    for (uint32_t at = 0; at < bytes; at += sizeof(Number)) {
        Number result = combined(read<Number>(memory + at), read<Number>(operand + at));
        memcpy(memory + at, &result, sizeof result);
    }
}

bool is_known(Reduction reduction)
{
    uint32_t operation = reduction.operation;
    bool counts = operation == ReductionForm::INC || operation == ReductionForm::DEC;
    switch (reduction.type) {
    case ElementType::U32:
        return true;
    case ElementType::S32:
    case ElementType::U64:
        return !counts;
    case ElementType::S64:
        return operation == ReductionForm::MIN || operation == ReductionForm::MAX;
    case ElementType::F16:
    case ElementType::BF16:
        return operation <= ReductionForm::MAX;
    case ElementType::U8:
    case ElementType::U16:
        return false;
    default:
        return operation == ReductionForm::ADD;
    }
}

void combine(Reduction reduction, uint8_t *memory, const uint8_t *operand, uint32_t bytes)
{
    uint32_t operation = reduction.operation;
    auto integers = [=](auto old, auto with) { return combine_integers(operation, old, with); };
    switch (reduction.type) {
    case ElementType::U32:
        return combine_each<uint32_t>(memory, operand, bytes, integers);
    case ElementType::S32:
        return combine_each<int32_t>(memory, operand, bytes, integers);
    case ElementType::U64:
        return combine_each<uint64_t>(memory, operand, bytes, integers);
    case ElementType::S64:
        return combine_each<int64_t>(memory, operand, bytes, integers);
    case ElementType::F16:
        return combine_each<uint16_t>(memory, operand, bytes, [=](uint16_t old, uint16_t with) {
            return combine_short<Half>(operation, old, with);
        });
    case ElementType::BF16:
        return combine_each<uint16_t>(memory, operand, bytes, [=](uint16_t old, uint16_t with) {
            return combine_short<Bfloat>(operation, old, with);
        });
    case ElementType::F64:
        return combine_each<double>(memory, operand, bytes,
                                    [](double old, double with) { return old + with; });
    default:
        return combine_each<uint32_t>(memory, operand, bytes, [=](uint32_t old, uint32_t with) {
            return add_floats(old, with,
                              reduction.type == ElementType::F32_FTZ ||
                                  reduction.type == ElementType::TF32_FTZ);
        });
    }
}
