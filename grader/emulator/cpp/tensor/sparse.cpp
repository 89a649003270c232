// Products with a sparse A, which holds two of each four elements of a row, or one of two 32-bit
// elements (PTX ISA, `mma.sp`), and metadata with their positions. An H200 agrees in a million
// tiles of each form.
#include "tensor/byte_products.h"
#include "tensor/products.h"

// Metadata: two bits per element (per half of a 32-bit element) in one register of one of a row's
// four lanes; the selector names these lanes.
struct Places {
    const uint32_t *words;
    uint32_t selector;

    // The row of B for element `j` of a row of K elements.
    template <class Format, uint32_t K> uint32_t row_of(uint32_t row, uint32_t j) const
    {
        constexpr bool BYTES = Format::BITS == 8, WORDS = Format::BITS == 32;
        constexpr uint32_t IN_WORD = BYTES ? 16 : 8, FIELDS = WORDS ? 2 * K : K;
        uint32_t field = WORDS ? 2 * j : j, lane = row % ROWS * 4;
        if (BYTES)
            lane += 2 * (selector + field / IN_WORD) + row / ROWS;
        else
            lane += selector * (FIELDS / IN_WORD) + field / IN_WORD;
        uint32_t place = field % IN_WORD + (BYTES ? 0 : row / ROWS * IN_WORD);
        uint32_t code = words[lane % WARP_LANES] >> 2 * place & 3;
        return WORDS ? 2 * j + code / 2 : j / 2 * 4 + code;
    }

    // The rows of B for a row of A.
    template <class Format, uint32_t K>
    void pick(const uint32_t (*right)[COLUMNS], uint32_t row, uint32_t (*picked)[COLUMNS]) const
    {
        for (uint32_t j = 0; j < K; ++j)
            memcpy(picked[j], right[row_of<Format, K>(row, j)], sizeof picked[j]);
    }
};

// As multiply_registers; A holds K elements per row.
template <uint32_t K, class Arithmetic>
HOT void multiply_sparse(const Arithmetic &of, uint32_t *d, const uint32_t *a, const uint32_t *b,
                         const uint32_t *c, Places places)
{
    Codes<HEIGHT, K> codes;
    uint32_t columns[COLUMNS][2 * K], right[2 * K][COLUMNS];
    read_left<typename Arithmetic::Left>(words_of(a), codes);
    read_right<typename Arithmetic::Right>(words_of(b), columns);
    read_sums<Arithmetic::HALVES>(words_of(c), codes);
    of.prepare(codes.left[0][0], HEIGHT * K, true);
    of.prepare(columns[0], 2 * K * COLUMNS, false);
    for (uint32_t k = 0; k < 2 * K; ++k)
        for (uint32_t n = 0; n < COLUMNS; ++n)
            right[k][n] = columns[n][k];
    for (uint32_t row = 0; row < HEIGHT; ++row) {
        uint32_t left[1][K], picked[1][K][COLUMNS], sums[1][1][COLUMNS];
        for (uint32_t k = 0; k < K; ++k)
            left[0][k] = codes.left_at(row, k);
        for (uint32_t n = 0; n < COLUMNS; ++n)
            sums[0][0][n] = codes.sum_at(row, n);
        places.pick<typename Arithmetic::Left, K>(right, row, picked[0]);
        of.multiply_row(left, picked, sums);
        for (uint32_t n = 0; n < COLUMNS; ++n)
            codes.sum_at(row, n) = sums[0][0][n];
    }
    write_sums<Arithmetic::HALVES>(codes, d);
}

// --- what kernels call ---------------------------------------------------------------------------

// Pointers to registers; null stands for a register that reads as zero.
#define DEFINE(name, parameters, k, ...)                                                           \
    EXPORT uint32_t emulator_multiply_sparse_##name(                                               \
        Context *context, uint32_t instruction, uint32_t mask, EXPAND parameters, uint32_t *d,     \
        const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *words,            \
        uint32_t selector)                                                                         \
    {                                                                                              \
        uint32_t code = check_warp(*context, instruction, mask);                                   \
        if (code == FaultCode::NONE && mask != 0)                                                  \
            multiply_sparse<k>(__VA_ARGS__, d, a, b, c, {words_of(words), selector});              \
        return code;                                                                               \
    }
#define EXPAND(...) __VA_ARGS__
#define DEFINE_FLOATS(format, result, k)                                                           \
    DEFINE(format##_##k##_##result, (int32_t places, uint32_t block_bytes), k,                     \
           Floats<format, format, result>{{places, block_bytes}})
#define DEFINE_BYTES(name, k) DEFINE(bytes_##name, (uint32_t form), k, Bytes<of_numbers>{form})

DEFINE_FLOATS(Half, Single, 16)
DEFINE_FLOATS(Half, Single, 8)
DEFINE_FLOATS(Half, Half, 16)
DEFINE_FLOATS(Half, Half, 8)
DEFINE_FLOATS(BFloat, Single, 16)
DEFINE_FLOATS(BFloat, Single, 8)
DEFINE_FLOATS(Single, Single, 8)
DEFINE_FLOATS(Single, Single, 4)
DEFINE_BYTES(16832, 16)
DEFINE_BYTES(16864, 32)
