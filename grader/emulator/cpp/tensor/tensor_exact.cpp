// Tensor core products without a rounding rule: bytes and bits, added exactly, and float64, a chain
// of fused multiply-adds in order (an H200 agrees in a million tiles of each form).
#include <cmath>
#include <initializer_list>

#include "tensor/byte_products.h"

constexpr uint64_t QUIET_BIT = 1ull << 51, INVALID = 0xFFF8ull << 48;

// The NaN of a * b + c: b's, otherwise c's, otherwise a's.
COLD double pick_nan(double a, double b, double c)
{
    for (double source : {b, c, a})
        if (std::isnan(source))
            return bits_as<double>(bits_as<uint64_t>(source) | QUIET_BIT);
    return bits_as<double>(INVALID);
}

HOT double read_double(const uint32_t *registers, uint32_t number, uint32_t lane)
{
    const uint32_t *low = registers + 2 * number * WARP_LANES + lane;
    return bits_as<double>(uint64_t(low[WARP_LANES]) << 32 | low[0]);
}

HOT void write_double(uint32_t *registers, uint32_t number, uint32_t lane, double value)
{
    uint32_t *low = registers + 2 * number * WARP_LANES + lane;
    low[0] = uint32_t(bits_as<uint64_t>(value));
    low[WARP_LANES] = uint32_t(bits_as<uint64_t>(value) >> 32);
}

template <uint32_t HEIGHT, uint32_t K>
HOT void multiply_doubles(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    constexpr uint32_t BLOCKS = HEIGHT / ROWS;
    double left[HEIGHT][K], right[COLUMNS][K], sums[HEIGHT][COLUMNS];
    a = words_of(a), b = words_of(b), c = words_of(c);
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t g = lane / 4, q = lane % 4;
        for (uint32_t n = 0; n < BLOCKS * K / 4; ++n)
            left[g + ROWS * (n % BLOCKS)][q + 4 * (n / BLOCKS)] = read_double(a, n, lane);
        for (uint32_t n = 0; n < K / 4; ++n)
            right[g][q + 4 * n] = read_double(b, n, lane);
        for (uint32_t n = 0; n < 2 * BLOCKS; ++n)
            sums[g + ROWS * (n / 2)][2 * q + n % 2] = read_double(c, n, lane);
    }
    for (uint32_t row = 0; row < HEIGHT; ++row)
        for (uint32_t n = 0; n < COLUMNS; ++n)
            for (uint32_t k = 0; k < K; ++k) {
                double sum = std::fma(left[row][k], right[n][k], sums[row][n]);
                if (unlikely(std::isnan(sum)))
                    sum = pick_nan(left[row][k], right[n][k], sums[row][n]);
                sums[row][n] = sum;
            }
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        for (uint32_t n = 0; n < 2 * BLOCKS; ++n)
            write_double(d, n, lane, sums[lane / 4 + ROWS * (n / 2)][2 * (lane % 4) + n % 2]);
}

// --- what kernels call ---------------------------------------------------------------------------

#define DEFINE_PRODUCT(name, ...)                                                                  \
    EXPORT uint32_t emulator_multiply_##name(                                                      \
        Context *context, uint32_t instruction, uint32_t mask, [[maybe_unused]] uint32_t form,     \
        uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)                      \
    {                                                                                              \
        uint32_t code = check_warp(*context, instruction, mask);                                   \
        if (code == FaultCode::NONE && mask != 0)                                                  \
            __VA_ARGS__;                                                                           \
        return code;                                                                               \
    }

DEFINE_PRODUCT(bytes_8816, multiply_registers<8, 16>(Bytes<of_numbers>{form}, d, a, b, c))
DEFINE_PRODUCT(bytes_16816, multiply_registers<16, 16>(Bytes<of_numbers>{form}, d, a, b, c))
DEFINE_PRODUCT(bytes_16832, multiply_registers<16, 32>(Bytes<of_numbers>{form}, d, a, b, c))
DEFINE_PRODUCT(AND_88128, multiply_registers<8, 16>(Bytes<of_bits>{form}, d, a, b, c))
DEFINE_PRODUCT(AND_168128, multiply_registers<16, 16>(Bytes<of_bits>{form}, d, a, b, c))
DEFINE_PRODUCT(AND_168256, multiply_registers<16, 32>(Bytes<of_bits>{form}, d, a, b, c))
DEFINE_PRODUCT(XOR_88128, multiply_registers<8, 16>(Bytes<of_other_bits>{form}, d, a, b, c))
DEFINE_PRODUCT(XOR_168128, multiply_registers<16, 16>(Bytes<of_other_bits>{form}, d, a, b, c))
DEFINE_PRODUCT(XOR_168256, multiply_registers<16, 32>(Bytes<of_other_bits>{form}, d, a, b, c))
DEFINE_PRODUCT(doubles_8x8x4, multiply_doubles<8, 4>(d, a, b, c))
DEFINE_PRODUCT(doubles_16x8x4, multiply_doubles<16, 4>(d, a, b, c))
DEFINE_PRODUCT(doubles_16x8x8, multiply_doubles<16, 8>(d, a, b, c))
DEFINE_PRODUCT(doubles_16x8x16, multiply_doubles<16, 16>(d, a, b, c))
