// The exact rules of the checked mode for each suspicious lane.
//
// Ordered accesses do not race. Ordered are accesses of one thread; of lanes of a warp that have
// waited for each other since (__syncwarp(): CUDA C++ Programming Guide, "Independent Thread
// Scheduling"; a common path, shuffles and votes do "not imply a memory barrier"); of threads with
// a __syncthreads() between the accesses (the epoch differs); of blocks if the first has fenced and
// the second has then acquired (an atomic operation or a volatile read). A thread that draws a
// value from a place where others have drawn (a ticket) comes after all their accesses to that
// place so far. Atomic and volatile accesses do not race with each other. A store of the value that
// is already in memory is harmless, and so are lanes that store one value to one address in one
// instruction; of different values, the result is undefined. A plain read before a
// compare-and-swap, a minimum or a maximum belongs to the usual retry loop.
#include "checked/checked.h"
#include "memory/under_way.h"

void report(const Context &context, uint32_t code, uint32_t instruction, Tag own, Tag other,
            uint64_t address, uint32_t others_block, uint32_t mask)
{
    CheckedState &state = *context.checked_state;
    uint8_t &reported = state.reported[code * state.instructions + instruction];
    if (reported)
        return;
    reported = 1;
    Found &found = state.found[state.found_count++];
    found.code = code;
    found.instruction = instruction;
    found.other_instruction = other.instruction();
    found.thread = own.thread();
    found.other_thread = other.thread();
    found.block = uint32_t(linear_block(context));
    found.other_block = others_block != OWNERS_BLOCK ? others_block
                        : other.owner() != 0         ? uint32_t(other.owner()) - 1
                                                     : found.block;
    found.mask = mask;
    found.address = address;
}

// Reports absent lanes (`lane` needs them), or lanes at a wrong place (`lane` at `address`).
EXPORT void emulator_report_lanes(const Context *context, const Warp *warp, uint32_t code,
                                  uint32_t instruction, uint32_t lane, uint32_t mask,
                                  uint64_t address)
{
    Tag own{warp->index * WARP_LANES + lane};
    report(*context, code, instruction, own, own, address, OWNERS_BLOCK, mask);
}

// --- the order of two accesses -------------------------------------------------------------------

// Whether a lane of the own warp has not been waited for. If a tag cannot count all
// synchronisations, the lanes count as synchronised.
static bool is_unsynced(const CheckedAccess &checked, Tag own, Tag other)
{
    uint32_t known = checked.warp.ordered_until[own.lane()][other.lane()],
             synced = checked.warp.synced;
    return other.detail() != DETAIL_MASK && other.detail() >= (known > synced ? known : synced);
}

static bool is_unordered(const CheckedAccess &checked, Tag own, Tag other, bool after_read)
{
    const CheckedState &state = checked.state;
    if (!other.exists())
        return false;
    if (!checked.shared()) {
        bool fenced = state.fences[other.owner()] > other.detail();
        return other.owner() != own.owner() && !(fenced && state.acquired);
    }
    if (other.owner() != own.owner())
        return false;
    if (other.warp() != checked.warp.index)
        return true;
    // The flag of a reader: other lanes read, too. The flag of a writer: a copy, which has its own
    // rules.
    bool another = other.thread() != own.thread();
    another = after_read ? another || other.flag() : another && !other.flag();
    return another && is_unsynced(checked, own, other);
}

// Whether the own block (in shared memory: the own warp) performed the granule's last atomic
// operation and received its value.
static bool drew_last(const CheckedAccess &checked, uint64_t address)
{
    return *checked.ticket_owner(address) == checked.ticket_owner_number();
}

// Whether an instruction's source line is not after another instruction's line, or unknown.
static bool in_front(const CheckedState &state, uint32_t instruction, uint32_t other)
{
    return state.lines[other] == 0 || state.lines[instruction] <= state.lines[other];
}

// Whether two instructions do not race in either order.
static bool is_excused(const CheckedAccess &checked, Tag other, uint64_t address, bool after_read)
{
    uint8_t traits = checked.state.traits[other.instruction()];
    if (!checked.plain() && (traits & Trait::ATOMIC))
        return true;
    if (checked.plain() && (traits & Trait::CHANGES) && drew_last(checked, address))
        return true;
    if (checked.access.load && checked.plain() && (traits & Trait::RETRIED) &&
        in_front(checked.state, checked.instruction, other.instruction()))
        return true;
    return checked.access.atomic && after_read && checked.has(Trait::RETRIED) &&
           in_front(checked.state, other.instruction(), checked.instruction);
}

static void judge_pair(const CheckedAccess &checked, Tag own, Tag other, uint64_t address,
                       bool after_read)
{
    if (!is_unordered(checked, own, other, after_read) ||
        is_excused(checked, other, address, after_read))
        return;
    uint32_t code = !checked.shared()                    ? +FindingCode::GLOBAL_RACE
                    : other.warp() == checked.warp.index ? +FindingCode::WARP_RACE
                                                         : +FindingCode::SHARED_RACE;
    report(checked.context, code, checked.instruction, own, other, address);
}

// --- a lane --------------------------------------------------------------------------------------

bool changes_memory(const CheckedAccess &checked, uint32_t lane)
{
    const Context &context = checked.context;
    if (checked.reads() || checked.access.is(AccessFlag::BULK))
        return true;
    uint64_t host = checked.shared() ? context.shared_host : context.global_host;
    const uint8_t *place = host_pointer(host + context.lane_addresses[lane]);
    uint32_t size = checked.access.width < 4 ? checked.access.width : 4;
    for (uint32_t word = 0; word < checked.access.words(); ++word)
        if (memcmp(&context.words[word * WARP_LANES + lane], place + 4 * word, size) != 0)
            return true;
    return false;
}

static void judge_granule(const CheckedAccess &checked, Tag own, uint64_t address, bool changes)
{
    Tag writer{checked.tags_at(address).writer};
    if (checked.shared() && checked.reads()) {
        if (!writer.exists())
            report(checked.context, FindingCode::MAYBE_SHARED_UNWRITTEN, checked.instruction, own,
                   own, address);
        if (writer.flag() && is_written_later(checked.context, address))
            report(checked.context, FindingCode::ASYNC_COPY, checked.instruction, own, writer,
                   address);
    }
    if (!changes)
        return;
    // Two asynchronous copies to one place usually bring the same data: no race.
    if (!checked.asynchronous() || !writer.flag())
        judge_pair(checked, own, writer, address, false);
    if (!checked.access.load)
        judge_pair(checked, own, Tag{checked.tags_at(address).reader}, address, true);
}

void judge(const CheckedAccess &checked, uint32_t lane)
{
    Tag own{checked.state.own_tags[lane]};
    uint64_t address = checked.context.lane_addresses[lane];
    bool changes = changes_memory(checked, lane);
    for (uint32_t granule = 0; granule < checked.granules(); ++granule)
        judge_granule(checked, own, address + (granule << checked.shift), changes);
    if (checked.shared() || !checked.reads())
        return;
    for (uint32_t byte = 0; byte < checked.access.bounded_bytes(); ++byte)
        if (*checked.written(address + byte) == 0)
            report(checked.context, FindingCode::MAYBE_GLOBAL_UNWRITTEN, checked.instruction, own,
                   own, address + byte);
}

// --- all lanes -----------------------------------------------------------------------------------

// The lanes that store a value different from this lane's.
static uint32_t lanes_with_other_data(const CheckedAccess &checked, uint32_t lane)
{
    uint32_t stored = checked.access.width < 4 ? (1u << 8 * checked.access.width) - 1 : ~0u;
    uint32_t others = 0;
    for (uint32_t word = 0; word < checked.access.words(); ++word) {
        const uint32_t *data = checked.context.words + word * WARP_LANES;
        others |= lanes_where(
            [=](uint32_t each) { return ((data[each] ^ data[lane]) & stored) != 0; });
    }
    return others;
}

void report_collisions(const CheckedAccess &checked, uint32_t mask)
{
    const Context &context = checked.context;
    for (uint32_t rest = mask; rest != 0;) {
        uint32_t lane = lowest_lane(rest), address = context.lane_addresses[lane];
        uint32_t there = lanes_equal(context.lane_addresses, address) & rest;
        uint32_t others = there & lanes_with_other_data(checked, lane);
        if (others != 0) {
            Tag first{checked.state.own_tags[lane]};
            Tag second{checked.state.own_tags[lowest_lane(others)]};
            report(context, checked.shared() ? FindingCode::WARP_RACE : FindingCode::GLOBAL_RACE,
                   checked.instruction, second, first, address);
        }
        rest ^= there;
    }
}

void report_work(const CheckedAccess &checked, uint32_t mask)
{
    Context &context = checked.context;
    if (context.under_way == nullptr)
        return;
    for (const Traces *each : traces_of_work(context))
        for (uint32_t lane : Lanes{mask}) {
            uint32_t address = context.lane_addresses[lane];
            const uint8_t *place = host_pointer(context.shared_host) + address;
            if (each->touches(place, true) || (!checked.access.load && each->touches(place, false)))
                report(context, FindingCode::ASYNC_COPY, checked.instruction,
                       Tag{checked.state.own_tags[lane]}, Tag{each->tag}, address);
        }
}

// An access to shared memory outside of its array is not a fault of the hardware if other shared
// memory lies there.
void report_overrun(const CheckedAccess &checked, uint32_t mask)
{
    const Context &context = checked.context;
    auto [first, past] = checked.state.extents[checked.instruction];
    if (first == past) // unknown
        return;
    int32_t least = first, most = past - int32_t(checked.access.width);
    uint32_t strays = mask & lanes_where([&context, least, most](uint32_t lane) {
                          auto start = int32_t(context.lane_addresses[lane] - context.shared_base);
                          return start < least || start > most;
                      });
    if (strays != 0) {
        uint32_t lane = lowest_lane(strays);
        emulator_report_lanes(&context, &checked.warp, FindingCode::SHARED_OVERRUN,
                              checked.instruction, lane, strays, context.lane_addresses[lane]);
    }
}
