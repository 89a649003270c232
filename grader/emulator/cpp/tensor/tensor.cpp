// Products of matrices of floats in a warp's registers.
#include "tensor/products.h"

DECLARE_ALL();

// Pointers to registers; null stands for a register that reads as zero.
#define DEFINE_PRODUCT(format, result, k)                                                          \
    EXPORT uint32_t emulator_multiply_##format##_##k##_##result(                                   \
        Context *context, uint32_t instruction, uint32_t mask, int32_t places,                     \
        uint32_t block_bytes, uint32_t *d, const uint32_t *a, const uint32_t *b,                   \
        const uint32_t *c)                                                                         \
    {                                                                                              \
        uint32_t code = check_warp(*context, instruction, mask);                                   \
        if (code == FaultCode::NONE && mask != 0)                                                  \
            multiply_registers<HEIGHT, k>(Floats<format, format, result>{{places, block_bytes}},   \
                                          d, a, b, c);                                             \
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
