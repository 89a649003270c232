// Bulk copies and reductions (PTX ISA, cp.async.bulk and cp.reduce.async.bulk).
#include "memory/bulk_copies.h"

#include <memory>

#include "checked/checked.h"
#include "memory/patterns.h"
#include "memory/written.h"
#include "timing/tracing.h"
#include "warps/clusters.h"

constexpr uint32_t SIZE_MASK = 0xFFFF;

// --- units ---------------------------------------------------------------------------------------

// Forgets a slot's patterns if its last accesses were of another kind.
static void keep_apart(Slot &slot, uint32_t kind)
{
    if (slot.bulk_kind == kind)
        return;
    slot.bulk_kind = kind;
    for (Pattern &pattern : slot.patterns)
        pattern.mask = 0;
}

uint32_t BulkCopy::access(const End &end, uint32_t slot, uint32_t mask, bool load)
{
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        context.lane_addresses[lane] = uint32_t(end.addresses[lane]);
        context.lane_uppers[lane] = uint32_t(end.addresses[lane] >> 32);
    }
    context.words = context.lane_data;
    keep_apart(context.slots[slot], moves.width << 2 | end.global << 1 | load);
    // Bytes count at their global end.
    uint32_t flags = AccessFlag::UNTRACED | AccessFlag::LATER | AccessFlag::BULK |
                     (end.global ? 0u : uint32_t(AccessFlag::COPIED));
    Space space = end.global ? Space::GLOBAL : Space::SHARED;
    uint32_t code = access_carefully(
        context, warp, {space, load, false, uint8_t(moves.width), flags}, slot, instruction, mask);
    if (code != FaultCode::NONE)
        context.fault_lane = lowest_lane(warp.mask);
    else if (end.global)
        follow_access(context, warp, mask, larger(1, moves.width / 4),
                      load ? Follow::READS : Follow::WRITES);
    return code;
}

// Records the sectors of units in global memory for the trace: a line's address, with the mask of its
// sectors in the lowest bits.
void BulkCopy::record_sectors(const End &end, uint32_t mask)
{
    if (!end.global || warp.trace >= warp.trace_end)
        return;
    for (uint32_t lane : Lanes{mask}) {
        uint32_t address = uint32_t(end.addresses[lane]), line = address & -timing::LINE_BYTES;
        if (sectors.empty() || (sectors.back() & -timing::LINE_BYTES) != line)
            sectors.push_back(line);
        sectors.back() |= bit(address % timing::LINE_BYTES / SECTOR_BYTES);
    }
}

void BulkCopy::trace_sectors()
{
    for (uint32_t done = 0; done < sectors.size() && warp.trace < warp.trace_end;
         done += WARP_LANES) {
        uint32_t count = smaller(uint32_t(sectors.size()) - done, WARP_LANES);
        memcpy(context.lane_addresses, sectors.data() + done, count * sizeof(uint32_t));
        trace_access(context, warp, {Space::GLOBAL, true, false, UNIT_BYTES, 0}, 0, instruction,
                     FULL_MASK >> (WARP_LANES - count));
    }
    sectors.clear();
}

static uint8_t *host_of(const Context &context, const End &end, uint32_t lane)
{
    return host_pointer(end.global ? context.global_host : context.shared_host) +
           uint32_t(end.addresses[lane]);
}

uint32_t BulkCopy::read(const End &source, uint32_t mask, uint8_t *bytes)
{
    uint32_t code = access(source, load_slot, mask, true);
    for (uint32_t lane : Lanes{code == FaultCode::NONE ? mask : 0})
        memcpy(bytes + lane * moves.width, host_of(context, source, lane), moves.width);
    return code;
}

// The same offset in another block of the cluster.
static uint64_t in_block(uint64_t address, uint32_t rank)
{
    return (address & ((uint64_t(1) << CLUSTER_SHIFT) - 1)) | uint64_t(rank) << CLUSTER_SHIFT;
}

// Rounds to 10 fraction bits, ties to even (seen on an H200).
static uint32_t to_tf32(uint32_t bits)
{
    constexpr uint32_t SIGN = 0x80000000, INFINITE = 0x7F800000, NAN_BITS = 0x7FFFE000;
    constexpr uint32_t SHIFT = 13, HALF = 1 << (SHIFT - 1);
    if ((bits & ~SIGN) > INFINITE)
        return NAN_BITS;
    return (bits + HALF - 1 + (bits >> SHIFT & 1)) >> SHIFT << SHIFT;
}

// The target in one block if several `blocks` receive the copy.
static End end_in_block(const End &target, uint32_t blocks, uint32_t rank)
{
    End end = target;
    for (uint64_t &address : end.addresses)
        address = blocks == 0 ? address : in_block(address, rank);
    return end;
}

uint32_t BulkCopy::move(const End &target, const End &source, uint32_t mask, uint32_t inside)
{
    if (mask == 0)
        return FaultCode::NONE;
    uint32_t code = access(source, load_slot, mask & inside, true);
    record_sectors(source, mask & inside);
    record_sectors(target, mask);
    for (uint32_t rank : Lanes{blocks == 0 ? 1 : blocks})
        if (code == FaultCode::NONE)
            code = access(end_in_block(target, blocks, rank), store_slot, mask, false);
    if (code != FaultCode::NONE)
        return code;
    End first = end_in_block(target, blocks, 0);
    Moves::Units units{mask, inside, {}, {}};
    for (uint32_t lane : Lanes{mask}) {
        units.sources[lane] = host_of(context, source, lane);
        units.targets[lane] = host_of(context, first, lane);
    }
    moves.units.push_back(units);
    return code;
}

void BulkCopy::set(uint32_t form, uint32_t width)
{
    moves.width = width;
    moves.reduces = form & BulkForm::REDUCES;
    moves.reduction = {form >> BulkForm::OPERATION_SHIFT & BulkForm::OPERATION,
                       form >> BulkForm::TYPE_SHIFT};
}

void Moves::run(uint64_t behind) const
{
    for (const Units &each : units)
        for (uint32_t lane : Lanes{each.mask}) {
            uint32_t unit[UNIT_BYTES / 4] = {fill, fill, fill, fill};
            auto bytes = reinterpret_cast<uint8_t *>(unit);
            if (has(each.inside, lane))
                memcpy(unit, each.sources[lane] == nullptr ? data : each.sources[lane], width);
            for (uint32_t &word : unit)
                word = narrows && has(each.inside, lane) ? to_tf32(word) : word;
            if (reduces)
                combine(reduction, each.targets[lane] + behind, bytes, width);
            else
                memcpy(each.targets[lane] + behind, unit, width);
        }
}

bool Moves::touch(const uint8_t *place, bool writes, uint64_t behind) const
{
    for (const Units &each : units)
        for (uint32_t lane : Lanes{writes ? each.mask : each.mask & each.inside})
            if (uint64_t(place - (writes ? each.targets[lane] + behind : each.sources[lane])) <
                width)
                return true;
    return false;
}

uint32_t BulkCopy::fail(uint32_t code, uint64_t address)
{
    return report_fault(context, code, instruction, lowest_lane(warp.mask), address);
}

// Defers the moves, `behind` bytes after the targets, with the data for the checked mode.
void BulkCopy::put_off_moves(uint8_t *object, uint32_t bytes, uint64_t behind)
{
    auto all = std::make_shared<const Moves>(moves);
    Effect run = [all, behind] { all->run(behind); };
    Traces traces{};
    if (context.checked_state != nullptr)
        traces = {tag_of(warp, instruction, lowest_lane(warp.mask)),
                  [all, behind](const uint8_t *place, bool writes) {
                      return all->touch(place, writes, behind);
                  }};
    if (object == nullptr)
        put_off(context, warp, WorkKind::STORES, run, traces);
    else
        put_off(context, {object, {0, 0, bytes}, run, traces});
}

uint32_t BulkCopy::end_with_group()
{
    trace_sectors();
    put_off_moves(nullptr, 0, 0);
    return FaultCode::NONE;
}

uint32_t BulkCopy::end_with_arrival(uint32_t object, uint32_t bytes)
{
    trace_sectors();
    for (uint32_t rank : Lanes{blocks == 0 ? 1 : blocks}) {
        uint32_t address = blocks == 0 ? object : uint32_t(in_block(object, rank));
        uint32_t code = check_objects(context, instruction, &address, 1);
        if (code != FaultCode::NONE)
            return code;
        trace_object(warp, instruction, address, 0, bytes);
        put_off_moves(place_of_object(context, address), bytes, uint64_t(rank) << CLUSTER_SHIFT);
    }
    return FaultCode::NONE;
}

// --- consecutive bytes ---------------------------------------------------------------------------

static void name_units(End &end, uint64_t first)
{
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        end.addresses[lane] = first + lane * UNIT_BYTES;
}

// Copies or reduces consecutive bytes. The lower half of `size` is the number of 16-byte units; the
// upper half is the mask of receiving blocks if the form has TO_BLOCKS.
EXPORT uint32_t emulator_copy_bulk(Context *context, Warp *warp, uint32_t instruction,
                                   uint32_t load_slot, uint32_t store_slot, uint32_t form,
                                   uint64_t target, uint64_t source, uint32_t object, uint32_t size)
{
    BulkCopy copy{*context, *warp, instruction, load_slot, store_slot};
    copy.blocks = form & BulkForm::TO_BLOCKS ? size >> BulkForm::BLOCKS_SHIFT : 0;
    copy.set(form, UNIT_BYTES);
    if (copy.moves.reduces && !is_known(copy.moves.reduction))
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
    return to.global ? copy.end_with_group() : copy.end_with_arrival(object, units * UNIT_BYTES);
}

// --- stores of lanes -----------------------------------------------------------------------------

// Addresses are in lane_addresses, barrier objects in lane_uppers, data in lane_data.
EXPORT uint32_t emulator_store_later(Context *context, Warp *warp, uint32_t instruction,
                                     uint32_t mask, uint32_t slot, uint32_t width, uint32_t form)
{
    uint32_t objects[WARP_LANES];
    memcpy(objects, context->lane_uppers, sizeof objects);
    context->words = context->lane_data;
    Access access{Space::SHARED, false, false, uint8_t(width),
                  AccessFlag::UNTRACED | AccessFlag::LATER};
    uint32_t code = access_carefully(*context, *warp, access, slot, instruction, mask);
    if (code == FaultCode::NONE)
        code = check_objects(*context, instruction, objects, mask);
    for (uint32_t rest = code == FaultCode::NONE ? mask : 0; rest != 0; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        BulkCopy copy{*context, *warp, instruction, slot, slot};
        copy.set(form, width);
        copy.moves.units.push_back({bit(lane), bit(lane), {}, {}});
        copy.moves.units[0].targets[lane] = host_pointer(context->shared_host) +
                                            context->lane_addresses[lane];
        for (uint32_t word = 0; word < smaller(width, UNIT_BYTES) / 4; ++word)
            memcpy(copy.moves.data + 4 * word, context->lane_data + word * WARP_LANES + lane, 4);
        copy.put_off_moves(place_of_object(*context, objects[lane]), width, 0);
    }
    return code;
}
