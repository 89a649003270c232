// Products of matrices of bytes, added exactly in 32-bit words.
#pragma once

#include "tensor/fragments.h"

struct Byte {
    static constexpr uint32_t BITS = 8;
};

// Signs of the operands; SATURATED: sums are clamped to the range of a word.
struct ByteForm {
    enum : uint32_t { LEFT_SIGNED = 1, RIGHT_SIGNED = 2, SATURATED = 4 };
};

HOT void extend(uint32_t *codes, uint32_t count, bool is_signed)
{
    uint32_t sign = is_signed ? 0x80 : 0;
    for (uint32_t n = 0; n < count; ++n)
        codes[n] = (codes[n] ^ sign) - sign;
}

HOT uint32_t add_to_word(uint32_t word, int32_t sum, bool saturated)
{
    if (!saturated)
        return word + uint32_t(sum);
    int64_t exact = int64_t(int32_t(word)) + sum;
    exact = exact > INT32_MAX ? INT32_MAX : exact;
    return uint32_t(exact < INT32_MIN ? INT32_MIN : exact);
}

// Contribution of two bytes to a sum: their product; the number of common bits; the number of
// differing bits.
HOT uint32_t of_numbers(uint32_t x, uint32_t y) { return x * y; }
HOT uint32_t of_bits(uint32_t x, uint32_t y) { return __builtin_popcount(x & y); }
HOT uint32_t of_other_bits(uint32_t x, uint32_t y) { return __builtin_popcount(x ^ y); }

// The arithmetic of matrices of bytes (see fragments.h) with a ByteForm; TIMES is one of the
// functions above.
template <uint32_t (*TIMES)(uint32_t, uint32_t)> struct Bytes {
    using Left = Byte;
    using Right = Byte;
    static constexpr bool HALVES = false;

    uint32_t form;

    void prepare(uint32_t *codes, uint32_t count, bool is_left) const
    {
        extend(codes, count, form & (is_left ? ByteForm::LEFT_SIGNED : ByteForm::RIGHT_SIGNED));
    }

    template <uint32_t K>
    void multiply(uint32_t rows, const uint32_t (*left)[K], const uint32_t (*right)[COLUMNS],
                  uint32_t (*codes)[COLUMNS]) const
    {
        for (uint32_t row = 0; row < rows; ++row) {
            uint32_t sums[COLUMNS] = {};
            for (uint32_t k = 0; k < K; ++k)
                for (uint32_t n = 0; n < COLUMNS; ++n)
                    sums[n] += TIMES(left[row][k], right[k][n]);
            for (uint32_t n = 0; n < COLUMNS; ++n)
                codes[row][n] = add_to_word(codes[row][n], int32_t(sums[n]),
                                            form & ByteForm::SATURATED);
        }
    }
};
