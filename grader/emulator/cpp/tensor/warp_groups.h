// Products of matrices by four warps together (PTX ISA, `wgmma.mma_async`): each warp has 16 rows
// of A and D, and reads all of B. A may lie in registers, as for products of one warp. Matrices in
// shared memory are read in units of 16 bytes as lane accesses, so that the checks of other
// accesses apply. A product is computed when its group is waited for.
// The functions are in two files, because their compilation is long.
#pragma once

#include "memory/under_way.h"
#include "tensor/byte_products.h"
#include "tensor/products.h"

extern "C" uint32_t emulator_load_shared_16(Context *, Warp *, uint32_t slot, uint32_t instruction,
                                            uint32_t mask, uint32_t flags);

constexpr uint32_t ROW_BYTES = 32, UNIT = 16, UNIT_WORDS = 4;
constexpr uint32_t ROW_UNITS = ROW_BYTES / UNIT;
constexpr uint32_t WAVEFRONT_BYTES = 128;
constexpr uint32_t SHARED_PLACES = (1 << 18) - 1;
// Truncation (bits below the largest exponent) and fraction bits of sums of 8-bit floats.
constexpr int32_t SMALL_PLACES = 13;
// Lines of a transposed matrix of halves: one per element of a row.
constexpr uint32_t LINES = ROW_BYTES / 2;

// --- matrices in shared memory -------------------------------------------------------------------

// A matrix descriptor (PTX ISA, "Matrix Descriptor Format"), in bytes. `width`: bytes of a line of
// the swizzle pattern, 16 without a swizzle.
// A zero descriptor means no matrix: ptxas emits such groups, and no instruction reads their sum.
struct Descriptor {
    bool empty;
    uint32_t start, leading, stride, base, width;

    Descriptor(uint32_t low, uint32_t high)
        : empty(low == 0 && high == 0), start((low & 0x3FFF) << 4),
          leading((low >> 16 & 0x3FFF) << 4), stride((high & 0x3FFF) << 4), base(high >> 17 & 7)
    {
        constexpr uint32_t WIDTHS[] = {16, 128, 64, 32};
        width = WIDTHS[high >> 30];
    }

    // The offset of a unit of a row; `place_of_line`: of a transposed matrix, the offset of a
    // line's unit with elements of eight rows.
    uint32_t place_of(uint32_t row, uint32_t unit) const
    {
        if (width == UNIT)
            return swap(row / ROWS * stride + row % ROWS * UNIT + unit * leading);
        return swap(row / ROWS * stride + row % ROWS * width + unit * UNIT);
    }

    uint32_t place_of_line(uint32_t line, uint32_t rows) const
    {
        if (width == UNIT)
            return swap(rows * stride + line / ROWS * leading + line % ROWS * UNIT);
        uint32_t units = width / UNIT;
        return swap(rows / units * leading + rows % units * UNIT + line / ROWS * stride +
                    line % ROWS * width);
    }

  private:
    uint32_t swap(uint32_t behind) const
    {
        uint32_t address = start + behind;
        address ^= (((address >> 7) - base) & (width / UNIT - 1)) << 4;
        return address & SHARED_PLACES;
    }
};

// Reads matrices for one instruction of a warp.
struct Reader {
    Context &context;
    Warp &warp;
    uint32_t slot, instruction;

    // Reads the bytes of HEIGHT rows from row `first` on. Returns a FaultCode.
    template <uint32_t HEIGHT>
    uint32_t read(const Descriptor &matrix, uint32_t first, bool transposed,
                  uint8_t (*bytes)[ROW_BYTES]) const
    {
        constexpr uint32_t UNITS = HEIGHT * ROW_UNITS, MASK = FULL_MASK >> (WARP_LANES - UNITS);
        uint32_t block = context.cluster_rank << CLUSTER_SHIFT;
        if (matrix.empty) {
            memset(bytes, 0, HEIGHT * ROW_BYTES);
            return FaultCode::NONE;
        }
        for (uint32_t n = 0; n < UNITS; ++n)
            context.lane_addresses[n] =
                block + (transposed ? matrix.place_of_line(n % LINES, first / ROWS + n / LINES)
                                    : matrix.place_of(first + n / ROW_UNITS, n % ROW_UNITS));
        context.words = context.lane_data;
        uint32_t code = emulator_load_shared_16(&context, &warp, slot, instruction, MASK,
                                                AccessFlag::UNTRACED);
        if (unlikely(code != FaultCode::NONE)) {
            context.fault_lane = lowest_lane(warp.mask);
            return code;
        }
        for (uint32_t n = 0; n < UNITS; ++n) {
            uint32_t unit[UNIT_WORDS];
            for (uint32_t word = 0; word < UNIT_WORDS; ++word)
                unit[word] = context.lane_data[word * WARP_LANES + n];
            if (transposed)
                spread(unit, n % LINES, bytes + n / LINES * ROWS);
            else
                memcpy(bytes[n / ROW_UNITS] + n % ROW_UNITS * UNIT, unit, UNIT);
        }
        return FaultCode::NONE;
    }

  private:
    // Distributes a unit's halves to eight rows.
    static void spread(const uint32_t *unit, uint32_t line, uint8_t (*rows)[ROW_BYTES])
    {
        for (uint32_t row = 0; row < ROWS; ++row)
            memcpy(rows[row] + 2 * line, reinterpret_cast<const uint8_t *>(unit) + 2 * row, 2);
    }
};

// The use of shared memory's bandwidth by a product: one wavefront per WAVEFRONT_BYTES of a matrix,
// for every layout; B counts once for the four warps.
static void count_operands(Slot &slot, const Warp &warp, uint32_t columns, uint32_t form)
{
    uint32_t rows = form & GroupForm::LEFT_SHARED ? HEIGHT : 0;
    if (warp.index % GROUP_WARPS == 0)
        rows += columns;
    uint32_t wavefronts = rows * ROW_BYTES / WAVEFRONT_BYTES;
    slot.requests_total += 1;
    slot.passes_total += wavefronts;
    slot.passes_ideal_total += wavefronts;
}

template <class Format, uint32_t K> HOT void read_codes(const uint8_t *row, uint32_t *codes)
{
    for (uint32_t k = 0; k < K; ++k) {
        codes[k] = 0;
        memcpy(&codes[k], row + k * Format::BITS / 8, Format::BITS / 8);
    }
}

// --- a product -----------------------------------------------------------------------------------

// `d`, `a` and `c` are registers. `c` may be null; `a` is null if A lies in shared memory.
struct Operands {
    uint32_t columns, form;
    uint32_t *d;
    const uint32_t *a, *c;
    Descriptor left, right;

    bool is(uint32_t flag) const { return form & flag; }
    // The bits of a ByteForm have the same order.
    uint32_t byte_form() const { return form / GroupForm::LEFT_SIGNED; }
};

// Reads the warp's rows of A. Returns a FaultCode.
template <class Format, uint32_t K>
APART uint32_t read_left_matrix(const Reader &reader, const Operands &of, Codes<HEIGHT, K> &codes)
{
    if (!of.is(GroupForm::LEFT_SHARED)) {
        read_left<Format>(words_of(of.a), codes);
        return FaultCode::NONE;
    }
    uint8_t rows[HEIGHT][ROW_BYTES];
    uint32_t first = reader.warp.index % GROUP_WARPS * HEIGHT;
    uint32_t code = reader.read<HEIGHT>(of.left, first, of.is(GroupForm::LEFT_TRANSPOSED), rows);
    for (uint32_t row = 0; row < HEIGHT; ++row) {
        uint32_t left[K];
        read_codes<Format, K>(rows[row], left);
        for (uint32_t k = 0; k < K; ++k)
            codes.left_at(row, k) = left[k];
    }
    return code;
}

// Reads eight columns of B from column `first` on. Returns a FaultCode.
template <class Format, uint32_t K>
APART uint32_t read_right_matrix(const Reader &reader, const Operands &of, uint32_t first,
                                 uint32_t (*right)[K])
{
    uint8_t columns[COLUMNS][ROW_BYTES];
    uint32_t code = reader.read<COLUMNS>(of.right, first, of.is(GroupForm::RIGHT_TRANSPOSED),
                                         columns);
    for (uint32_t column = 0; column < COLUMNS; ++column)
        read_codes<Format, K>(columns[column], right[column]);
    return code;
}

// As multiply_registers.
template <class Arithmetic>
HOT uint32_t multiply_matrices(const Reader &reader, const Operands &of,
                               const Arithmetic &arithmetic)
{
    using Left = typename Arithmetic::Left;
    constexpr uint32_t K = ROW_BYTES * 8 / Left::BITS, REGISTERS = Arithmetic::HALVES ? 2 : 4;
    Codes<HEIGHT, K> codes;
    uint32_t code = read_left_matrix<Left, K>(reader, of, codes);
    arithmetic.prepare(codes.left[0][0], HEIGHT * K, true);
    for (uint32_t first = 0; first < of.columns && code == FaultCode::NONE; first += COLUMNS) {
        uint32_t behind = first / COLUMNS * REGISTERS * WARP_LANES;
        const uint32_t *c = words_of(of.c == nullptr ? nullptr : of.c + behind);
        code = read_right_matrix<typename Arithmetic::Right, K>(reader, of, first, codes.right);
        read_sums<Arithmetic::HALVES>(c, codes);
        multiply_codes(arithmetic, codes);
        write_sums<Arithmetic::HALVES>(codes, of.d + behind);
    }
    return code;
}

// --- what kernels call ---------------------------------------------------------------------------

// Defers `product(reader, of)` until its wait, with the present values of A's four registers. C is
// read from D's registers then, after earlier products have written them.
template <class Product>
static uint32_t multiply_later(const Reader &reader, Operands of, Product product)
{
    std::vector<uint32_t> left;
    if (of.a != nullptr)
        left.assign(of.a, of.a + 4 * WARP_LANES);
    put_off(reader.context, reader.warp, WorkKind::PRODUCTS, [=]() mutable {
        of.a = left.empty() ? nullptr : left.data();
        return product(reader, of);
    });
    return FaultCode::NONE;
}

// `places` and `block_bytes`: the architecture's rule for float sums.
#define DEFINE_PRODUCT(name, ...)                                                                  \
    EXPORT uint32_t emulator_multiply_group_##name(                                                \
        Context *context, Warp *warp, uint32_t instruction, uint32_t mask, uint32_t slot,          \
        uint32_t operands, [[maybe_unused]] int32_t places, [[maybe_unused]] uint32_t block_bytes, \
        uint32_t columns, uint32_t form, uint32_t *d, const uint32_t *a, const uint32_t *c,        \
        uint32_t left_low, uint32_t left_high, uint32_t right_low, uint32_t right_high)            \
    {                                                                                              \
        uint32_t code = check_warp(*context, instruction, mask);                                   \
        if (code != FaultCode::NONE || mask == 0)                                                  \
            return code;                                                                           \
        count_operands(context->slots[operands], *warp, columns, form);                            \
        Reader now{*context, *warp, slot, instruction};                                            \
        Operands in{columns, form, d, a, c, {left_low, left_high}, {right_low, right_high}};       \
        return multiply_later(                                                                     \
            now, in, [=](const Reader &reader, const Operands &of) { return __VA_ARGS__; });       \
    }
#define DEFINE_FLOATS(left, right, result, ...)                                                    \
    DEFINE_PRODUCT(                                                                                \
        left##_##right##_##result,                                                                 \
        multiply_matrices(reader, of,                                                              \
                          Floats<left, right, result>{{__VA_ARGS__},                               \
                                                      of.is(GroupForm::LEFT_NEGATED),              \
                                                      of.is(GroupForm::RIGHT_NEGATED)}))
#define DEFINE_SMALL(left, right)                                                                  \
    DEFINE_FLOATS(left, right, Single, SMALL_PLACES, block_bytes, SMALL_PLACES)                    \
    DEFINE_FLOATS(left, right, Half, SMALL_PLACES, block_bytes)
