// Bulk copies and reductions (PTX ISA, cp.async.bulk and cp.reduce.async.bulk).
#include "bulk_copies.h"
#include "checked.h"
#include "clusters.h"
#include "patterns.h"

using AccessFunction = uint32_t(Context *, Warp *, uint32_t slot, uint32_t instruction,
                                uint32_t mask, uint32_t flags);
#define DECLARE(name) \
    AccessFunction emulator_##name##_1, emulator_##name##_2, emulator_##name##_4,                  \
        emulator_##name##_8, emulator_##name##_16;
#define WIDTHS(name)                                                                               \
    {                                                                                              \
        emulator_##name##_1, emulator_##name##_2, emulator_##name##_4, emulator_##name##_8,        \
            emulator_##name##_16                                                                   \
    }
extern "C" {
DECLARE(load_global)
DECLARE(load_shared)
DECLARE(store_global)
DECLARE(store_shared)
}

// By memory, shared first, and by the width's binary logarithm.
static AccessFunction *const LOADS[2][5] = {WIDTHS(load_shared), WIDTHS(load_global)};
static AccessFunction *const STORES[2][5] = {WIDTHS(store_shared), WIDTHS(store_global)};

constexpr uint32_t SIZE_MASK = 0xFFFF;

// --- units ---------------------------------------------------------------------------------------

// A slot takes its patterns for those of one kind of access.
static void keep_apart(Slot &slot, uint32_t kind)
{
    if (slot.bulk_kind == kind)
        return;
    slot.bulk_kind = kind;
    for (Pattern &pattern : slot.patterns)
        pattern.mask = 0;
}

// Data lies in lane_data.
uint32_t BulkCopy::access(const End &end, uint32_t slot, uint32_t mask, bool load)
{
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        context.lane_addresses[lane] = uint32_t(end.addresses[lane]);
        context.lane_uppers[lane] = uint32_t(end.addresses[lane] >> 32);
    }
    context.words = context.lane_data;
    keep_apart(context.slots[slot], width << 2 | end.global << 1 | load);
    AccessFunction *function = (load ? LOADS : STORES)[end.global][lowest_lane(width)];
    uint32_t code = function(&context, &warp, slot, instruction, mask, AccessFlag::UNTRACED);
    if (code != FaultCode::NONE)
        context.fault_lane = lowest_lane(warp.mask);
    return code;
}

// The words of a lane, one behind the other.
static void gather(const Context &context, uint32_t lane, uint8_t *bytes)
{
    for (uint32_t word = 0; word < UNIT_BYTES / 4; ++word)
        memcpy(bytes + 4 * word, context.lane_data + word * WARP_LANES + lane, 4);
}

uint32_t BulkCopy::read(const End &source, uint32_t mask, uint8_t *bytes)
{
    uint32_t code = access(source, load_slot, mask, true);
    for (uint32_t lane : Lanes{code == FaultCode::NONE ? mask : 0})
        gather(context, lane, bytes + lane * width);
    return code;
}

// lane_data becomes what the target holds, combined with it.
uint32_t BulkCopy::add_to(const End &target, uint32_t mask)
{
    uint8_t operands[WARP_LANES][UNIT_BYTES];
    for (uint32_t lane : Lanes{mask})
        gather(context, lane, operands[lane]);
    uint32_t code = access(target, store_slot, mask, true);
    if (code != FaultCode::NONE)
        return code;
    for (uint32_t lane : Lanes{mask}) {
        uint8_t memory[UNIT_BYTES];
        gather(context, lane, memory);
        combine(*reduction, memory, operands[lane], width);
        for (uint32_t word = 0; word < UNIT_BYTES / 4; ++word)
            memcpy(context.lane_data + word * WARP_LANES + lane, memory + 4 * word, 4);
    }
    return FaultCode::NONE;
}

// The same place in another block of the cluster.
static uint64_t in_block(uint64_t address, uint32_t rank)
{
    return (address & ((uint64_t(1) << CLUSTER_SHIFT) - 1)) | uint64_t(rank) << CLUSTER_SHIFT;
}

// To the nearest with 10 bits behind the point, of two to the even one (seen on an H200).
static uint32_t to_tf32(uint32_t bits)
{
    constexpr uint32_t SIGN = 0x80000000, INFINITE = 0x7F800000, NAN_BITS = 0x7FFFE000;
    constexpr uint32_t SHIFT = 13, HALF = 1 << (SHIFT - 1);
    if ((bits & ~SIGN) > INFINITE)
        return NAN_BITS;
    return (bits + HALF - 1 + (bits >> SHIFT & 1)) >> SHIFT << SHIFT;
}

uint32_t BulkCopy::move(End &target, const End &source, uint32_t mask, uint32_t inside)
{
    if (mask == 0)
        return FaultCode::NONE;
    uint32_t code = access(source, load_slot, mask & inside, true);
    for (uint32_t lane : Lanes{narrows ? mask & inside : 0})
        for (uint32_t word = 0; word < width / 4; ++word)
            context.lane_data[word * WARP_LANES + lane] =
                to_tf32(context.lane_data[word * WARP_LANES + lane]);
    for (uint32_t lane : Lanes{mask & ~inside})
        for (uint32_t word = 0; word < UNIT_BYTES / 4; ++word)
            context.lane_data[word * WARP_LANES + lane] = fill;
    if (code == FaultCode::NONE && reduction != nullptr)
        code = add_to(target, mask);
    if (blocks == 0 && code == FaultCode::NONE)
        return access(target, store_slot, mask, false);
    for (uint32_t rank : Lanes{blocks}) {
        for (uint64_t &address : target.addresses)
            address = in_block(address, rank);
        code = code == FaultCode::NONE ? access(target, store_slot, mask, false) : code;
    }
    return code;
}

uint32_t BulkCopy::fail(uint32_t code, uint64_t address)
{
    context.fault_instruction = instruction;
    note_fault(context, code, lowest_lane(warp.mask), address);
    return context.fault_code;
}

uint32_t BulkCopy::arrive(uint32_t object, uint32_t bytes)
{
    if (blocks == 0)
        return complete_bytes(context, instruction, object, bytes);
    uint32_t code = FaultCode::NONE;
    for (uint32_t rank : Lanes{blocks})
        if (code == FaultCode::NONE)
            code = complete_bytes(context, instruction, in_block(object, rank), bytes);
    return code;
}

// --- consecutive bytes ---------------------------------------------------------------------------

static void name_units(End &end, uint64_t first)
{
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        end.addresses[lane] = first + lane * UNIT_BYTES;
}

// From one address to another; `size`: as many times 16 bytes as its lower half says, and in the
// upper one the blocks that get them, where a form asks for that.
EXPORT uint32_t emulator_copy_bulk(Context *context, Warp *warp, uint32_t instruction,
                                   uint32_t load_slot, uint32_t store_slot, uint32_t form,
                                   uint64_t target, uint64_t source, uint32_t object, uint32_t size)
{
    Reduction reduction{form >> BulkForm::OPERATION_SHIFT & BulkForm::OPERATION,
                        form >> BulkForm::TYPE_SHIFT};
    BulkCopy copy{*context, *warp, instruction, load_slot, store_slot};
    copy.blocks = form & BulkForm::TO_BLOCKS ? size >> BulkForm::BLOCKS_SHIFT : 0;
    copy.reduction = form & BulkForm::REDUCES ? &reduction : nullptr;
    if (copy.reduction != nullptr && !is_known(reduction))
        return copy.fail(FaultCode::UNSUPPORTED, target);
    End to{(form & BulkForm::TO_GLOBAL) != 0, {}}, from{(form & BulkForm::FROM_GLOBAL) != 0, {}};
    uint32_t units = size & SIZE_MASK;
    for (uint32_t done = 0; done < units; done += WARP_LANES) {
        uint32_t left = units - done, mask = left < WARP_LANES ? bit(left) - 1 : FULL_MASK;
        name_units(to, target + done * UNIT_BYTES);
        name_units(from, source + done * UNIT_BYTES);
        uint32_t code = copy.move(to, from, mask, mask);
        if (code != FaultCode::NONE)
            return code;
    }
    return to.global ? FaultCode::NONE : copy.arrive(object, units * UNIT_BYTES);
}
