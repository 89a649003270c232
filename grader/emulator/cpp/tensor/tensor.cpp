// Products of matrices of floats in a warp's registers.
#include "tensor/products.h"

DECLARE_ALL();

template <class Format, class Result, uint32_t K>
HOT void multiply_registers(Rule rule, uint32_t *d, const uint32_t *a, const uint32_t *b,
                            const uint32_t *c)
{
    uint32_t left[HEIGHT][K], right[K][COLUMNS], codes[HEIGHT][COLUMNS];
    read_left<Format, HEIGHT, K>(words_of(a), left);
    read_right<Format, K>(words_of(b), right);
    cut_codes<Format>(left[0], HEIGHT * K);
    cut_codes<Format>(right[0], K * COLUMNS);
    if constexpr (Result::BITS == 16) {
        read_halves<HEIGHT>(words_of(c), codes);
        multiply<Format, Format, Result, K>(rule, HEIGHT, left, right, codes);
        write_halves<HEIGHT>(codes, d);
    } else {
        read_words<HEIGHT>(words_of(c), codes);
        multiply<Format, Format, Result, K>(rule, HEIGHT, left, right, codes);
        write_words<HEIGHT>(codes, d);
    }
}

// --- what kernels call ---------------------------------------------------------------------------

// Pointers to registers; null stands for a register that reads as zero.
#define DEFINE_PRODUCT(format, result, k)                                                          \
    EXPORT uint32_t emulator_multiply_##format##_##k##_##result(                                   \
        Context *context, uint32_t instruction, uint32_t mask, int32_t places,                     \
        uint32_t block_bytes, uint32_t *d, const uint32_t *a, const uint32_t *b,                   \
        const uint32_t *c)                                                                         \
    {                                                                                              \
        uint32_t code = check_warp(*context, instruction, mask);                                   \
        if (code == FaultCode::NONE && mask != 0)                                                  \
            multiply_registers<format, result, k>({places, block_bytes}, d, a, b, c);              \
        return code;                                                                               \
    }

DEFINE_PRODUCT(Half, Single, 16)
DEFINE_PRODUCT(Half, Single, 8)
DEFINE_PRODUCT(Half, Half, 16)
DEFINE_PRODUCT(Half, Half, 8)
DEFINE_PRODUCT(BFloat, Single, 16)
DEFINE_PRODUCT(BFloat, Single, 8)
DEFINE_PRODUCT(Single, Single, 8)
DEFINE_PRODUCT(Single, Single, 4)
