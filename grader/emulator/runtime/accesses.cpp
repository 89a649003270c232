// Accesses of a warp to memory: check every address, count, and move the data between the host's
// memory and the lanes' words.
//
// Counting is made cheap by remembering, for each instruction, the last pattern of lane addresses
// relative to their first: wavefronts and sectors depend on nothing else (sectors on the base
// modulo 32 too).
//
// What runs at each access is compiled once for each kind (HOT): its width is a constant there.
#include "checked.h"
#include "counting.h"
#include "tracing.h"

#define HOT static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline))

// --- what is wrong with an access ----------------------------------------------------------------

static bool note_fault(Context &context, uint32_t code, uint32_t lane, uint64_t address)
{
    context.fault_code = code;
    context.fault_lane = lane;
    context.fault_address = address;
    return false;
}

// Whether a lane's bytes lie in a buffer, which the slot then remembers: the next access near it
// takes the fast path.
static bool find_buffer(const Context &context, Access access, Slot &slot, uint32_t lane)
{
    int64_t start = context.lane_addresses[lane], end = start + access.bounded_bytes();
    if (access.space == Space::SHARED) {
        slot.first = context.shared_base;
        slot.end = slot.first + context.shared_bytes;
        return start >= slot.first && end <= slot.end;
    }
    if (context.lane_uppers[lane] != context.global_window)
        return false;
    bool found = false;
    for (uint32_t index = 0; index < context.buffer_count; ++index) {
        auto [first, past] = context.buffers[index];
        if (start >= int64_t(first) && end <= int64_t(past)) {
            found = true;
            slot.first = first;
            slot.end = past;
        }
    }
    return found;
}

// The careful check, lane by lane; notes the first bad lane.
COLD bool search(Context &context, Access access, Slot &slot, uint32_t mask)
{
    bool global = access.space == Space::GLOBAL;
    for (uint32_t lane : Lanes{mask}) {
        uint64_t upper = global ? context.lane_uppers[lane] : 0;
        uint64_t address = context.lane_addresses[lane] | upper << 32;
        if (address % access.width != 0)
            return note_fault(context,
                              global ? FaultCode::GLOBAL_ALIGNMENT : FaultCode::SHARED_ALIGNMENT,
                              lane, address);
        if (!find_buffer(context, access, slot, lane))
            return note_fault(context, global ? FaultCode::GLOBAL_BOUNDS : FaultCode::SHARED_BOUNDS,
                              lane, address);
    }
    return true;
}

// --- the pattern of an access --------------------------------------------------------------------

// The active lanes whose address another active lane has too.
static uint32_t meeting_lanes(const uint32_t *deltas, uint32_t mask)
{
    uint32_t meeting = 0;
    for (uint32_t lane : Lanes{mask}) {
        uint32_t same = lanes_equal(deltas, deltas[lane]) & mask;
        if (same & (same - 1))
            meeting |= same;
    }
    return meeting;
}

static uint32_t pattern_kind(const uint32_t *deltas, uint32_t mask, uint32_t width)
{
    bool contiguous = mask == FULL_MASK, broadcast = mask == FULL_MASK;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        contiguous &= deltas[lane] == lane * width;
        broadcast &= deltas[lane] == 0;
    }
    return contiguous ? PatternKind::CONTIGUOUS
           : broadcast ? PatternKind::BROADCAST
                       : PatternKind::GENERAL;
}

// Remember a pattern, its extent, its kind and its counts.
COLD void learn(const Context &context, Access access, Slot &slot, uint32_t base, uint32_t base_low,
                uint32_t mask)
{
    slot.mask = mask;
    slot.base_low = base_low;
    slot.lowest = slot.highest = slot.low_bits = 0; // the base itself is an active lane's
    uint32_t relative[WARP_LANES];
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint32_t delta = has(mask, lane) ? context.lane_addresses[lane] - base : 0;
        slot.deltas[lane] = delta;
        relative[lane] = delta + base_low;
        slot.low_bits |= delta;
        slot.lowest = int32_t(delta) < slot.lowest ? int32_t(delta) : slot.lowest;
        slot.highest = int32_t(delta) > slot.highest ? int32_t(delta) : slot.highest;
    }
    slot.kind = pattern_kind(slot.deltas, mask, access.width);
    if (context.checked_state != nullptr && !access.atomic)
        slot.meeting = meeting_lanes(slot.deltas, mask);
    if (access.space == Space::GLOBAL)
        count_sectors(access, slot, relative, mask);
    else
        count_wavefronts(access, slot, relative, mask);
}

// Whether a difference is 0 in all active lanes.
template <class Difference> HOT bool none_differs(uint32_t mask, Difference difference)
{
    uint32_t differing = 0;
    if (likely(mask == FULL_MASK)) {
        for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
            differing |= difference(lane);
    } else {
        for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
            differing |= difference(lane) & -(mask >> lane & 1);
    }
    return differing == 0;
}

// Whether the active lanes' addresses are those of the slot's pattern, moved to another base.
HOT bool repeats(const uint32_t *addresses, const uint32_t *deltas, uint32_t base, uint32_t mask)
{
    return none_differs(mask,
                        [=](uint32_t lane) { return (addresses[lane] - base) ^ deltas[lane]; });
}

// Whether every active lane's upper word is that of the window of global memory.
HOT bool in_window(const Context &context, uint32_t mask)
{
    const uint32_t *uppers = context.lane_uppers, window = context.global_window;
    return none_differs(mask, [=](uint32_t lane) { return uppers[lane] ^ window; });
}

// --- check and count -----------------------------------------------------------------------------

HOT bool check(Context &context, Access access, Slot &slot, uint32_t mask)
{
    uint32_t base = context.lane_addresses[lowest_lane(mask)];
    uint32_t base_low = base % (access.space == Space::GLOBAL ? SECTOR_BYTES : BANK_BYTES);
    bool known = mask == slot.mask && base_low == slot.base_low &&
                 repeats(context.lane_addresses, slot.deltas, base, mask);
    if (unlikely(!known))
        learn(context, access, slot, base, base_low, mask);
    slot.requests_total += 1;
    slot.passes_total += slot.passes;
    slot.passes_ideal_total += slot.passes_ideal;
    slot.bytes_total += slot.bytes;
    int64_t first = int64_t(base) + slot.lowest;
    int64_t past = int64_t(base) + slot.highest + access.bounded_bytes();
    bool good = first >= slot.first && past <= slot.end;
    good &= (slot.low_bits | base) % access.width == 0;
    if (access.space == Space::GLOBAL)
        good &= in_window(context, mask);
    return likely(good) || search(context, access, slot, mask);
}

// Local memory: each lane has its own, one after another. It is not counted.
static bool check_local(Context &context, Access access, uint32_t mask)
{
    uint32_t size = context.local_bytes, width = access.width;
    for (uint32_t lane : Lanes{mask})
        if (size < width || context.lane_addresses[lane] > size - width)
            return note_fault(context, FaultCode::LOCAL_BOUNDS, lane, context.lane_addresses[lane]);
    for (uint32_t lane : Lanes{mask})
        if (context.lane_addresses[lane] % width != 0)
            return note_fault(context, FaultCode::LOCAL_ALIGNMENT, lane,
                              context.lane_addresses[lane]);
    return true;
}

// Where address 0 of the space lies in the host's memory; of local memory, that of the warp's lane
// 0.
HOT uint8_t *space_host(const Context &context, const Warp &warp, Space space)
{
    if (space == Space::LOCAL)
        return host_pointer(context.local_host +
                            uint64_t(warp.index) * WARP_LANES * context.local_bytes);
    return host_pointer(space == Space::GLOBAL ? context.global_host : context.shared_host);
}

// --- move the data -------------------------------------------------------------------------------

template <class Number> HOT Number read(const uint8_t *place)
{
    Number value;
    memcpy(&value, place, sizeof value);
    return value;
}

HOT void load_lane(uint32_t *data, const uint8_t *place, Access access, uint32_t lane)
{
    bool is_signed = access.is(AccessFlag::SIGNED);
    if (access.width == 1)
        data[lane] = is_signed ? uint32_t(read<int8_t>(place)) : read<uint8_t>(place);
    else if (access.width == 2)
        data[lane] = is_signed ? uint32_t(read<int16_t>(place)) : read<uint16_t>(place);
    else
        for (uint32_t word = 0; word < access.words(); ++word)
            data[word * WARP_LANES + lane] = read<uint32_t>(place + 4 * word);
}

HOT void store_lane(const uint32_t *data, uint8_t *place, Access access, uint32_t lane)
{
    if (access.width < 4)
        memcpy(place, &data[lane], access.width);
    else
        for (uint32_t word = 0; word < access.words(); ++word)
            memcpy(place + 4 * word, &data[word * WARP_LANES + lane], 4);
}

HOT void move_in(Context &context, Access access, uint32_t kind, const uint8_t *host, uint32_t mask)
{
    const uint32_t *addresses = context.lane_addresses;
    uint32_t *data = context.lane_data;
    if (access.width == 4 && kind == PatternKind::CONTIGUOUS) {
        memcpy(data, host + addresses[0], sizeof context.lane_addresses);
    } else if (access.width >= 4 && kind == PatternKind::BROADCAST) {
        for (uint32_t word = 0; word < access.words(); ++word) {
            uint32_t value = read<uint32_t>(host + addresses[0] + 4 * word);
            for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
                data[word * WARP_LANES + lane] = value;
        }
    } else if (mask == FULL_MASK) {
        for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
            load_lane(data, host + addresses[lane], access, lane);
    } else {
        for (uint32_t lane : Lanes{mask})
            load_lane(data, host + addresses[lane], access, lane);
    }
}

// Of several lanes that write one address, an H100 lets the lowest win within each phase (32 lanes
// up to 4 bytes, 16 lanes of 8 bytes, 8 lanes of 16), and later phases overwrite earlier ones:
// probed for shared and global memory at all widths. PTX leaves it undefined.
HOT void move_out(Context &context, Access access, uint32_t kind, uint8_t *host, uint32_t mask)
{
    const uint32_t *addresses = context.lane_addresses, *data = context.lane_data;
    if (access.width == 4 && kind == PatternKind::CONTIGUOUS) {
        memcpy(host + addresses[0], data, sizeof context.lane_addresses);
        return;
    }
    uint32_t phases = access.words();
    for (uint32_t phase = 0; phase < phases; ++phase) {
        uint32_t rest = mask & lanes_of_part(phase, WARP_LANES / phases);
        while (rest != 0) {
            uint32_t lane = highest_lane(rest);
            store_lane(data, host + addresses[lane], access, lane);
            rest ^= bit(lane);
        }
    }
}

// --- an access of a warp -------------------------------------------------------------------------

// Check, count and note an access; what follows is to move the data. Returns a FaultCode.
HOT uint32_t begin(Context &context, Warp &warp, Access access, Slot &slot, uint32_t instruction,
                   uint32_t mask)
{
    bool local = access.space == Space::LOCAL;
    bool good = local ? check_local(context, access, mask) : check(context, access, slot, mask);
    if (unlikely(!good)) {
        context.fault_instruction = instruction;
        return context.fault_code;
    }
    if (unlikely(warp.trace < warp.trace_end) && !access.is(AccessFlag::UNTRACED))
        trace_access(context, warp, access, slot, instruction, mask);
    if (unlikely(context.checked_state != nullptr) && !local)
        watch_access(context, warp, access, slot, instruction, mask);
    if (local)
        for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
            context.lane_addresses[lane] += lane * context.local_bytes;
    return FaultCode::NONE;
}

// Lane addresses lie in the context's lane_addresses and lane_uppers, words of a store in its
// lane_data, where a load leaves them. Without an active lane nothing is done.
HOT uint32_t access_memory(Context *context, Warp *warp, Access access, uint32_t slot_index,
                           uint32_t instruction, uint32_t mask)
{
    if (mask == 0)
        return FaultCode::NONE;
    Slot &slot = context->slots[slot_index];
    uint32_t code = begin(*context, *warp, access, slot, instruction, mask);
    if (unlikely(code != FaultCode::NONE) || access.atomic)
        return code;
    // Local memory is not counted, and its slot knows no pattern.
    uint32_t kind = access.space == Space::LOCAL ? +PatternKind::GENERAL : slot.kind;
    uint8_t *host = space_host(*context, *warp, access.space);
    if (access.load)
        move_in(*context, access, kind, host, mask);
    else
        move_out(*context, access, kind, host, mask);
    return FaultCode::NONE;
}

// One function for each space, direction and width: the width is then known to the compiler.
#define DEFINE_ACCESS(name, space, load, atomic, width)                                            \
    EXPORT uint32_t emulator_##name##_##width(Context *context, Warp *warp, uint32_t slot,         \
                                              uint32_t instruction, uint32_t mask, uint32_t flags) \
    {                                                                                              \
        return access_memory(context, warp, Access{space, load, atomic, width, flags}, slot,       \
                             instruction, mask);                                                   \
    }
#define DEFINE_WIDTHS(name, space, load)                                                           \
    DEFINE_ACCESS(name, space, load, false, 1)                                                     \
    DEFINE_ACCESS(name, space, load, false, 2)                                                     \
    DEFINE_ACCESS(name, space, load, false, 4)                                                     \
    DEFINE_ACCESS(name, space, load, false, 8)                                                     \
    DEFINE_ACCESS(name, space, load, false, 16)

DEFINE_WIDTHS(load_global, Space::GLOBAL, true)
DEFINE_WIDTHS(load_shared, Space::SHARED, true)
DEFINE_WIDTHS(load_local, Space::LOCAL, true)
DEFINE_WIDTHS(store_global, Space::GLOBAL, false)
DEFINE_WIDTHS(store_shared, Space::SHARED, false)
DEFINE_WIDTHS(store_local, Space::LOCAL, false)

// The lanes then take turns in code of the kernel's own.
DEFINE_ACCESS(atomic_global, Space::GLOBAL, false, true, 4)
DEFINE_ACCESS(atomic_global, Space::GLOBAL, false, true, 8)
DEFINE_ACCESS(atomic_global, Space::GLOBAL, false, true, 16)
DEFINE_ACCESS(atomic_shared, Space::SHARED, false, true, 4)
DEFINE_ACCESS(atomic_shared, Space::SHARED, false, true, 8)
DEFINE_ACCESS(atomic_shared, Space::SHARED, false, true, 16)

// A constant per lane, at the offsets in lane_addresses, into lane_data. Returns a FaultCode: one
// may lie beyond the bank.
EXPORT uint32_t emulator_gather_constants(Context *context, const uint8_t *bank, uint32_t size,
                                          uint32_t instruction, uint32_t mask, uint32_t width,
                                          uint32_t flags)
{
    Access access{Space::GLOBAL, true, false, width, flags};
    for (uint32_t lane : Lanes{mask}) {
        uint32_t start = context->lane_addresses[lane];
        if (uint64_t(start) + width > size || start % width != 0) {
            note_fault(*context, FaultCode::CONSTANT_BOUNDS, lane, start);
            context->fault_instruction = instruction;
            return FaultCode::CONSTANT_BOUNDS;
        }
        load_lane(context->lane_data, bank + start, access, lane);
    }
    return FaultCode::NONE;
}

// Nsight Compute takes the distinct bytes of a generic access for global ones, also those of shared
// and of local memory. In local memory the lanes' addresses are the same where they name the same
// variable.
EXPORT void emulator_count_bytes_elsewhere(Context *context, uint32_t slot, uint32_t mask,
                                           uint32_t width)
{
    uint32_t distinct = distinct_lanes(context->lane_addresses, mask, WARP_LANES);
    context->slots[slot].bytes_total += count_lanes(distinct) * width;
}
