// Half-precision numbers (IEEE 754 binary16).
#pragma once

#include <cmath>

#include "warps/lanes.h"

inline float half_to_float(uint32_t code)
{
    uint32_t exponent = code >> 10 & 31, fraction = code & 0x3FF, sign = (code & 0x8000) << 16;
    if (exponent == 31)
        return bits_as<float>(sign | 0x7F800000 | fraction << 13);
    float magnitude = exponent == 0 ? std::ldexp(float(fraction), -24)
                                    : std::ldexp(float(fraction | 0x400), int(exponent) - 25);
    return bits_as<float>(sign | bits_as<uint32_t>(magnitude));
}
