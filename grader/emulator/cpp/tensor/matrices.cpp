// Matrices of 8 by 8 halves that a warp moves together (`ldmatrix`, `stmatrix`, `movmatrix`).
//
// A row is 16 bytes: four words in lane_data of the lane that has its address. In registers, lane 4
// * g + q holds elements 2 * q and 2 * q + 1 of row g, or of column g of a transposed matrix.
#include "tensor/fragments.h"

constexpr uint32_t ROW_WORDS = 4;

HOT uint32_t half_of(uint32_t word, uint32_t which) { return word >> 16 * which & 0xFFFF; }

// `spread_word`: a lane's register word from the rows; `row_word`: a word of a row from the
// registers.
HOT uint32_t spread_word(const uint32_t *rows, uint32_t lane, bool transposed)
{
    uint32_t g = lane / 4, q = lane % 4;
    if (!transposed)
        return rows[q * WARP_LANES + g];
    const uint32_t *column = rows + g / 2 * WARP_LANES;
    return half_of(column[2 * q], g % 2) | half_of(column[2 * q + 1], g % 2) << 16;
}

HOT uint32_t row_word(const uint32_t *words, uint32_t row, uint32_t word, bool transposed)
{
    if (!transposed)
        return words[4 * row + word];
    const uint32_t *lanes = words + row / 2;
    return half_of(lanes[8 * word], row % 2) | half_of(lanes[8 * word + 4], row % 2) << 16;
}

// Rows in lane_data -> one register per matrix.
EXPORT uint32_t emulator_spread_rows(Context *context, uint32_t instruction, uint32_t mask,
                                     uint32_t *registers, uint32_t matrices, uint32_t transposed)
{
    uint32_t code = check_warp(*context, instruction, mask);
    if (code != FaultCode::NONE || mask == 0)
        return code;
    for (uint32_t n = 0; n < matrices; ++n)
        for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
            registers[n * WARP_LANES + lane] = spread_word(context->lane_data + ROWS * n, lane,
                                                           transposed != 0);
    return code;
}

// One register per matrix -> rows in lane_data.
EXPORT uint32_t emulator_collect_rows(Context *context, uint32_t instruction, uint32_t mask,
                                      const uint32_t *registers, uint32_t matrices,
                                      uint32_t transposed)
{
    uint32_t code = check_warp(*context, instruction, mask);
    if (code != FaultCode::NONE || mask == 0)
        return code;
    for (uint32_t n = 0; n < matrices; ++n)
        for (uint32_t row = 0; row < ROWS; ++row)
            for (uint32_t word = 0; word < ROW_WORDS; ++word)
                context->lane_data[word * WARP_LANES + ROWS * n + row] = row_word(
                    words_of(registers) + n * WARP_LANES, row, word, transposed != 0);
    return code;
}
