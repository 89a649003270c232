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

    template <uint32_t PARTS, uint32_t K, uint32_t LANES>
    void multiply_columns(const uint32_t (&columns)[COLUMNS][K],
                          const uint32_t (&rows)[PARTS][K][LANES],
                          uint32_t (&codes)[PARTS][COLUMNS][LANES]) const
    {
        for (uint32_t n = 0; n < PARTS * COLUMNS; ++n)
            multiply(columns[n % COLUMNS], rows[n / COLUMNS], codes[n / COLUMNS][n % COLUMNS]);
    }

    template <uint32_t K>
    void multiply_row(const uint32_t (&row)[1][K], const uint32_t (&columns)[1][K][COLUMNS],
                      uint32_t (&codes)[1][1][COLUMNS]) const
    {
        multiply(row[0], columns[0], codes[0][0]);
    }

  private:
    template <uint32_t K, uint32_t LANES>
    void multiply(const uint32_t (&line)[K], const uint32_t (&lanes)[K][LANES],
                  uint32_t (&codes)[LANES]) const
    {
        uint32_t sums[LANES] = {};
        for (uint32_t k = 0; k < K; ++k)
            for (uint32_t n = 0; n < LANES; ++n)
                sums[n] += TIMES(line[k], lanes[k][n]);
        for (uint32_t n = 0; n < LANES; ++n)
            codes[n] = add_to_word(codes[n], int32_t(sums[n]), form & ByteForm::SATURATED);
    }
};
