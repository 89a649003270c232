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

// Rows of A in a vector: as many as a vector register holds. Tests with sanitizers run the form for
// other processors on all of them.
#if defined(__AVX512F__) && !defined(__SANITIZE_ADDRESS__)
constexpr uint32_t VECTOR_ROWS = 16;
#else
constexpr uint32_t VECTOR_ROWS = 8;
#endif

// Codes of the elements of A (HEIGHT rows, K columns) and C or D, in parts of rows, and of B.
template <uint32_t HEIGHT, uint32_t K> struct Codes {
    static constexpr uint32_t IN_PART = HEIGHT < VECTOR_ROWS ? HEIGHT : VECTOR_ROWS;
    static constexpr uint32_t PARTS = HEIGHT / IN_PART;

    uint32_t left[PARTS][K][IN_PART], right[COLUMNS][K], sums[PARTS][COLUMNS][IN_PART];

    uint32_t &left_at(uint32_t row, uint32_t k) { return left[row / IN_PART][k][row % IN_PART]; }
    uint32_t &sum_at(uint32_t row, uint32_t n) { return sums[row / IN_PART][n][row % IN_PART]; }
};

// Null stands for registers that read as zero.
inline const uint32_t *words_of(const uint32_t *registers)
{
    static const uint32_t ZEROS[16 * WARP_LANES] = {};
    return registers == nullptr ? ZEROS : registers;
}

template <class Format, uint32_t HEIGHT, uint32_t K>
HOT void read_left(const uint32_t *registers, Codes<HEIGHT, K> &codes)
{
    constexpr uint32_t TOGETHER = 32 / Format::BITS, BLOCKS = HEIGHT / ROWS, WIDTH = 4 * TOGETHER;
    for (uint32_t n = 0; n < BLOCKS * K / WIDTH; ++n)
        for (uint32_t column = 0; column < WIDTH; ++column)
            for (uint32_t row = 0; row < ROWS; ++row) {
                uint32_t word = registers[n * WARP_LANES + row * 4 + column / TOGETHER];
                codes.left_at(row + ROWS * (n % BLOCKS), n / BLOCKS * WIDTH + column) =
                    word >> column % TOGETHER * Format::BITS & ~0u >> (32 - Format::BITS);
            }
}

template <class Format, uint32_t K>
HOT void read_right(const uint32_t *registers, uint32_t (*codes)[K])
{
    constexpr uint32_t TOGETHER = 32 / Format::BITS, WIDTH = 4 * TOGETHER;
    for (uint32_t n = 0; n < COLUMNS; ++n)
        for (uint32_t k = 0; k < K; ++k) {
            uint32_t word = registers[k / WIDTH * WARP_LANES + n * 4 + k % WIDTH / TOGETHER];
            codes[n][k] = word >> k % TOGETHER * Format::BITS & ~0u >> (32 - Format::BITS);
        }
}

// The index of a 32-bit element of C or D.
inline uint32_t place_of(uint32_t row, uint32_t column)
{
    uint32_t lane = row % ROWS * 4 + column / 2, number = row / ROWS * 2 + column % 2;
    return number * WARP_LANES + lane;
}

template <uint32_t HEIGHT, uint32_t K>
HOT void read_words(const uint32_t *registers, Codes<HEIGHT, K> &codes)
{
    for (uint32_t n = 0; n < COLUMNS; ++n)
        for (uint32_t row = 0; row < HEIGHT; ++row)
            codes.sum_at(row, n) = registers[place_of(row, n)];
}

template <uint32_t HEIGHT, uint32_t K>
HOT void write_words(Codes<HEIGHT, K> &codes, uint32_t *registers)
{
    for (uint32_t row = 0; row < HEIGHT; ++row)
        for (uint32_t n = 0; n < COLUMNS; ++n)
            registers[place_of(row, n)] = codes.sum_at(row, n);
}

// Halves of C and D: two columns per word.
template <uint32_t HEIGHT, uint32_t K>
HOT void read_halves(const uint32_t *registers, Codes<HEIGHT, K> &codes)
{
    for (uint32_t n = 0; n < COLUMNS; ++n)
        for (uint32_t row = 0; row < HEIGHT; ++row) {
            uint32_t lane = row % ROWS * 4 + n / 2;
            codes.sum_at(row, n) = registers[row / ROWS * WARP_LANES + lane] >> (16 * (n % 2)) &
                                   0xFFFF;
        }
}

template <uint32_t HEIGHT, uint32_t K>
HOT void write_halves(Codes<HEIGHT, K> &codes, uint32_t *registers)
{
    for (uint32_t row = 0; row < HEIGHT; ++row)
        for (uint32_t n = 0; n < COLUMNS; n += 2)
            registers[row / ROWS * WARP_LANES + row % ROWS * 4 + n / 2] =
                codes.sum_at(row, n) | codes.sum_at(row, n + 1) << 16;
}

template <bool HALVES, uint32_t HEIGHT, uint32_t K>
HOT void read_sums(const uint32_t *registers, Codes<HEIGHT, K> &codes)
{
    HALVES ? read_halves(registers, codes) : read_words(registers, codes);
}

template <bool HALVES, uint32_t HEIGHT, uint32_t K>
HOT void write_sums(Codes<HEIGHT, K> &codes, uint32_t *registers)
{
    HALVES ? write_halves(codes, registers) : write_words(codes, registers);
}

// D = A * B + C for matrices in registers. `of` is the arithmetic: its types Left and Right are the
// formats of A and B, HALVES is the format of C and D; `prepare(codes, count, is_left)` converts
// elements to factors; `multiply_columns(right, left, sums)` computes D in place of C, and
// `multiply_row(left, right, sums)` a row of it.
template <uint32_t HEIGHT, uint32_t K, class Arithmetic>
HOT void multiply_codes(const Arithmetic &of, Codes<HEIGHT, K> &codes)
{
    of.prepare(codes.right[0], K * COLUMNS, false);
    of.multiply_columns(codes.right, codes.left, codes.sums);
}

template <uint32_t HEIGHT, uint32_t K, class Arithmetic>
HOT void multiply_registers(const Arithmetic &of, uint32_t *d, const uint32_t *a, const uint32_t *b,
                            const uint32_t *c)
{
    Codes<HEIGHT, K> codes;
    read_left<typename Arithmetic::Left>(words_of(a), codes);
    read_right<typename Arithmetic::Right>(words_of(b), codes.right);
    read_sums<Arithmetic::HALVES>(words_of(c), codes);
    of.prepare(codes.left[0][0], HEIGHT * K, true);
    multiply_codes(of, codes);
    write_sums<Arithmetic::HALVES>(codes, d);
}

// Matrix instructions need whole warps: 0 lanes do nothing; the result for some lanes is undefined.
// Returns a FaultCode.
HOT uint32_t check_warp(Context &context, uint32_t instruction, uint32_t mask)
{
    if (likely(mask == FULL_MASK || mask == 0))
        return FaultCode::NONE;
    return report_fault(context, FaultCode::UNSUPPORTED, instruction, lowest_lane(mask));
}
