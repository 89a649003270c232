// Registers of a warp that hold the matrices of a tensor core (PTX ISA, "Matrix Fragments for
// mma"), and number formats.
//
// Lane 4 * g + q holds rows g and g + 8 of A, column g of B, columns 2 * q and 2 * q + 1 of C and
// D. A register is one word of each lane; registers are consecutive.
#pragma once

#include "warps/lanes.h"

constexpr uint32_t COLUMNS = 8, ROWS = 8;
// Rows of A for one warp in the largest products.
constexpr uint32_t HEIGHT = 16;

struct Half {
    static constexpr uint32_t FRACTION = 10, EXPONENTS = 31, BITS = 16;
};

struct BFloat {
    static constexpr uint32_t FRACTION = 7, EXPONENTS = 255, BITS = 16;
};

// Floats of 8 bits, named by their exponent bits (PTX ISA, "Alternate Floating-Point Data
// Formats").
struct Exponents4 {
    static constexpr uint32_t FRACTION = 3, EXPONENTS = 15, BITS = 8;
};

struct Exponents5 {
    static constexpr uint32_t FRACTION = 2, EXPONENTS = 31, BITS = 8;
};

struct Single {
    static constexpr uint32_t FRACTION = 23, EXPONENTS = 255, BITS = 32;
};

// Null stands for registers that read as zero.
inline const uint32_t *words_of(const uint32_t *registers)
{
    static const uint32_t ZEROS[16 * WARP_LANES] = {};
    return registers == nullptr ? ZEROS : registers;
}

// The elements of A (HEIGHT rows, K columns), row by row.
template <class Format, uint32_t HEIGHT, uint32_t K>
HOT void read_left(const uint32_t *registers, uint32_t (*codes)[K])
{
    constexpr uint32_t TOGETHER = 32 / Format::BITS, BLOCKS = HEIGHT / ROWS, WIDTH = 4 * TOGETHER;
    for (uint32_t n = 0; n < BLOCKS * K / WIDTH; ++n)
        for (uint32_t row = 0; row < ROWS; ++row)
            for (uint32_t column = 0; column < WIDTH; ++column) {
                uint32_t word = registers[n * WARP_LANES + row * 4 + column / TOGETHER];
                codes[row + ROWS * (n % BLOCKS)][n / BLOCKS * WIDTH + column] =
                    word >> column % TOGETHER * Format::BITS & ~0u >> (32 - Format::BITS);
            }
}

// The elements of B (K rows), row by row.
template <class Format, uint32_t K>
HOT void read_right(const uint32_t *registers, uint32_t (*codes)[COLUMNS])
{
    constexpr uint32_t TOGETHER = 32 / Format::BITS, WIDTH = 4 * TOGETHER;
    for (uint32_t k = 0; k < K; ++k)
        for (uint32_t n = 0; n < COLUMNS; ++n) {
            uint32_t word = registers[k / WIDTH * WARP_LANES + n * 4 + k % WIDTH / TOGETHER];
            codes[k][n] = word >> k % TOGETHER * Format::BITS & ~0u >> (32 - Format::BITS);
        }
}

// The index of a 32-bit element of C or D.
inline uint32_t place_of(uint32_t row, uint32_t column)
{
    uint32_t lane = row % ROWS * 4 + column / 2, number = row / ROWS * 2 + column % 2;
    return number * WARP_LANES + lane;
}

template <uint32_t HEIGHT>
HOT void read_words(const uint32_t *registers, uint32_t (*codes)[COLUMNS])
{
    for (uint32_t row = 0; row < HEIGHT; ++row)
        for (uint32_t n = 0; n < COLUMNS; ++n)
            codes[row][n] = registers[place_of(row, n)];
}

template <uint32_t HEIGHT>
HOT void write_words(const uint32_t (*codes)[COLUMNS], uint32_t *registers)
{
    for (uint32_t row = 0; row < HEIGHT; ++row)
        for (uint32_t n = 0; n < COLUMNS; ++n)
            registers[place_of(row, n)] = codes[row][n];
}

// Halves of C and D: two columns per word.
template <uint32_t HEIGHT>
HOT void read_halves(const uint32_t *registers, uint32_t (*codes)[COLUMNS])
{
    for (uint32_t row = 0; row < HEIGHT; ++row)
        for (uint32_t n = 0; n < COLUMNS; ++n) {
            uint32_t lane = row % ROWS * 4 + n / 2;
            codes[row][n] = registers[row / ROWS * WARP_LANES + lane] >> (16 * (n % 2)) & 0xFFFF;
        }
}

template <uint32_t HEIGHT>
HOT void write_halves(const uint32_t (*codes)[COLUMNS], uint32_t *registers)
{
    for (uint32_t row = 0; row < HEIGHT; ++row)
        for (uint32_t n = 0; n < COLUMNS; n += 2)
            registers[row / ROWS * WARP_LANES + row % ROWS * 4 + n / 2] = codes[row][n] |
                                                                          codes[row][n + 1] << 16;
}

template <bool HALVES, uint32_t HEIGHT>
HOT void read_sums(const uint32_t *registers, uint32_t (*codes)[COLUMNS])
{
    HALVES ? read_halves<HEIGHT>(registers, codes) : read_words<HEIGHT>(registers, codes);
}

template <bool HALVES, uint32_t HEIGHT>
HOT void write_sums(const uint32_t (*codes)[COLUMNS], uint32_t *registers)
{
    HALVES ? write_halves<HEIGHT>(codes, registers) : write_words<HEIGHT>(codes, registers);
}

// D = A * B + C for matrices in registers. `of` is the arithmetic: its types Left and Right are the
// formats of A and B, HALVES is the format of C and D; `prepare(codes, count, is_left)` converts
// elements to factors, `multiply(rows, left, right, codes)` computes rows of D in place of C.
template <uint32_t HEIGHT, uint32_t K, class Arithmetic>
HOT void multiply_registers(const Arithmetic &of, uint32_t *d, const uint32_t *a, const uint32_t *b,
                            const uint32_t *c)
{
    uint32_t left[HEIGHT][K], right[K][COLUMNS], codes[HEIGHT][COLUMNS];
    read_left<typename Arithmetic::Left, HEIGHT, K>(words_of(a), left);
    read_right<typename Arithmetic::Right, K>(words_of(b), right);
    read_sums<Arithmetic::HALVES, HEIGHT>(words_of(c), codes);
    of.prepare(left[0], HEIGHT * K, true);
    of.prepare(right[0], K * COLUMNS, false);
    of.multiply(HEIGHT, left, right, codes);
    write_sums<Arithmetic::HALVES, HEIGHT>(codes, d);
}

// Matrix instructions need whole warps: 0 lanes do nothing; the result for some lanes is undefined.
// Returns a FaultCode.
HOT uint32_t check_warp(Context &context, uint32_t instruction, uint32_t mask)
{
    if (likely(mask == FULL_MASK || mask == 0))
        return FaultCode::NONE;
    return report_fault(context, FaultCode::UNSUPPORTED, instruction, lowest_lane(mask));
}
