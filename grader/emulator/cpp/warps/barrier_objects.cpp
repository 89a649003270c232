// Barrier objects in shared memory (PTX ISA, mbarrier): arrivals, and paths that wait for a phase.
//
// Layout of the 64 bits, derived from the values that arrivals return on an H200: bits 1 to 20 hold
// 2^20 minus the threads that each phase expects, bits 43 to 62 likewise the threads that this
// phase still expects, bits 21 to 41 the completed minus the expected bytes or copies, bit 63 the
// parity of the phase. On an H200, memory holds these bits only after an mbarrier.inval.
#include "warps/barrier_objects.h"
#include "checked/checked.h"
#include "memory/moves.h"
#include "memory/patterns.h"
#include "memory/under_way.h"
#include "timing/tracing.h"
#include "warps/clusters.h"
#include "warps/paths.h"

// --- one object ----------------------------------------------------------------------------------

constexpr uint32_t EXPECTED_SHIFT = 1, COPIED_SHIFT = 21, PENDING_SHIFT = 43, PHASE_SHIFT = 63;
constexpr uint32_t MOST_THREADS = 1 << 20;
constexpr uint64_t THREADS = MOST_THREADS - 1, COPIED = (1 << 21) - 1;

static uint32_t field(uint64_t object, uint32_t shift, uint64_t mask)
{
    return object >> shift & mask;
}

static uint64_t with_field(uint64_t object, uint32_t shift, uint64_t mask, uint64_t value)
{
    return (object & ~(mask << shift)) | (value & mask) << shift;
}

// Whether the phase has all its arrivals.
static bool is_complete(uint64_t object)
{
    return field(object, PENDING_SHIFT, THREADS) == 0 && field(object, COPIED_SHIFT, COPIED) == 0;
}

static bool is_too_much(uint64_t object, Arrival arrival)
{
    uint32_t pending = field(object, PENDING_SHIFT, THREADS);
    return arrival.threads > (pending == 0 ? 0 : MOST_THREADS - pending);
}

// Adds arrivals; a complete phase starts the next phase.
static uint64_t arrive(uint64_t object, Arrival arrival)
{
    bool was_complete = is_complete(object);
    uint32_t expected = field(object, EXPECTED_SHIFT, THREADS) + arrival.leaving;
    uint32_t pending = field(object, PENDING_SHIFT, THREADS) + arrival.threads;
    uint32_t copied = field(object, COPIED_SHIFT, COPIED) + arrival.copied;
    object = with_field(object, EXPECTED_SHIFT, THREADS, expected);
    object = with_field(object, PENDING_SHIFT, THREADS, pending);
    object = with_field(object, COPIED_SHIFT, COPIED, copied);
    if (was_complete || !is_complete(object))
        return object;
    object ^= uint64_t(1) << PHASE_SHIFT;
    return with_field(object, PENDING_SHIFT, THREADS, expected);
}

// --- objects of a block --------------------------------------------------------------------------

uint8_t *place_of_object(const Context &context, uint32_t address)
{
    return host_pointer(context.shared_host) + address;
}

uint32_t check_objects(Context &context, uint32_t instruction, const uint32_t *addresses,
                       uint32_t mask)
{
    for (uint32_t lane : Lanes{mask}) {
        uint64_t address = addresses[lane];
        uint64_t first = shared_base_of(context, address), past = first + context.shared_bytes;
        if (address % sizeof(uint64_t) != 0)
            return report_fault(context, FaultCode::SHARED_ALIGNMENT, instruction, lane, address);
        if (address < first || address + sizeof(uint64_t) > past)
            return report_fault(context, FaultCode::SHARED_BOUNDS, instruction, lane, address);
    }
    return FaultCode::NONE;
}

// Addresses are in lane_addresses; operands and results are in lane_data.
EXPORT uint32_t emulator_set_up_barrier(Context *context, Warp *warp, uint32_t instruction,
                                        uint32_t mask)
{
    uint32_t first = mask & -mask; // once per warp
    uint32_t code = check_objects(*context, instruction, context->lane_addresses, first);
    if (code != FaultCode::NONE)
        return code;
    for (uint32_t lane : Lanes{first}) {
        uint8_t *place = place_of_object(*context, context->lane_addresses[lane]);
        forget_arrivals(*context, place, place + 1);
        uint32_t expected = context->lane_data[lane] >> EXPECTED_SHIFT & THREADS;
        trace_object(*warp, instruction, context->lane_addresses[lane],
                     expected == 0 ? 0 : MOST_THREADS - expected, 0);
        write(place, context->lane_data[lane]);
        write(place + sizeof(uint32_t), context->lane_data[WARP_LANES + lane]);
    }
    return FaultCode::NONE;
}

EXPORT uint32_t emulator_invalidate_barrier(Context *context, Warp *, uint32_t instruction,
                                            uint32_t mask)
{
    return check_objects(*context, instruction, context->lane_addresses, mask);
}

// The arrival of one lane.
static Arrival arrival_of(const Context &context, uint32_t lane, uint32_t form)
{
    uint32_t word = form & ArrivalForm::ONE ? 1 : context.lane_data[lane];
    uint32_t threads = form & ArrivalForm::COUNTED ? context.lane_data[lane] : 1;
    Arrival arrival{};
    if (form & ArrivalForm::ARRIVES)
        arrival.threads = threads;
    if (form & ArrivalForm::LEAVES)
        arrival.leaving = threads;
    if (form & ArrivalForm::EXPECTS)
        arrival.copied = -word;
    if (form & ArrivalForm::COMPLETES)
        arrival.copied = word;
    return arrival;
}

// Applies the arrivals of asynchronous work at the latest possible moment: when they complete a
// phase. Until then they count as missing.
static void end_phase(Context &context, uint8_t *place)
{
    uint64_t before = read<uint64_t>(place), object = before;
    std::vector<LaterArrival *> later = later_arrivals(context, place), there;
    for (LaterArrival *each : later) {
        if ((object ^ before) >> PHASE_SHIFT != 0 || is_too_much(object, each->arrival))
            break;
        object = arrive(object, each->arrival);
        there.push_back(each);
    }
    if ((object ^ before) >> PHASE_SHIFT == 0)
        return;
    write(place, object);
    context.idle_rounds = 0;
    for (LaterArrival *each : there) {
        each->effect();
        each->object = nullptr;
    }
    forget_arrivals(context, nullptr, static_cast<uint8_t *>(nullptr) + 1);
}

// Lanes that arrive at one object arrive together. Each lane gets the upper word of the object
// before all arrivals, and the mask of these lanes. BEHIND_COPIES: the arrival happens after the
// lanes' copies so far.
EXPORT uint32_t emulator_arrive(Context *context, Warp *warp, uint32_t instruction, uint32_t mask,
                                uint32_t form)
{
    uint32_t code = check_objects(*context, instruction, context->lane_addresses, mask);
    for (uint32_t rest = mask; rest != 0 && code == FaultCode::NONE;) {
        uint32_t address = context->lane_addresses[lowest_lane(rest)];
        uint32_t here = lanes_equal(context->lane_addresses, address) & rest;
        uint8_t *place = place_of_object(*context, address);
        rest &= ~here;
        Arrival all{};
        for (uint32_t lane : Lanes{here}) {
            Arrival one = arrival_of(*context, lane, form);
            all.threads += one.threads;
            all.leaving += one.leaving;
            all.copied += one.copied;
        }
        trace_object(*warp, instruction, address, all.threads, all.copied);
        if (form & ArrivalForm::BEHIND_COPIES) {
            arrive_behind_copies(*context, *warp, place, all, here);
            continue;
        }
        if (unlikely(is_too_much(read<uint64_t>(place), all)))
            end_phase(*context, place);
        uint64_t before = read<uint64_t>(place);
        for (uint32_t lane : Lanes{here}) {
            context->lane_data[lane] = uint32_t(before >> 32);
            context->lane_data[WARP_LANES + lane] = here;
        }
        if (is_too_much(before, all))
            code = report_fault(*context, FaultCode::TOO_MANY_ARRIVALS, instruction,
                                lowest_lane(here), address);
        write(place, arrive(before, all));
    }
    context->idle_rounds = 0;
    return code;
}

// --- waiting -------------------------------------------------------------------------------------

// Waiting paths count as waiting forever after so many rounds without an arrival.
constexpr uint32_t IDLE_ROUNDS = 10000;

// The lanes of a mask whose phase has ended: the object's parity differs from the highest bit of
// their word. Completes asynchronous work if that ends their phase.
static uint32_t lanes_past(Context &context, const uint32_t *addresses, const uint32_t *phases,
                           uint32_t mask)
{
    uint32_t past = 0;
    const uint8_t *last = nullptr;
    for (uint32_t lane : Lanes{mask}) {
        uint8_t *place = place_of_object(context, addresses[lane]);
        auto is_past = [=] { return read<uint64_t>(place) >> PHASE_SHIFT != phases[lane] >> 31; };
        if (!is_past() && place != last)
            end_phase(context, place);
        last = place;
        past |= is_past() ? bit(lane) : 0;
    }
    return past;
}

// Orders all earlier accesses of other threads before the accesses that follow a phase (checked
// mode).
static void join_others(Context &context)
{
    if (context.checked_state != nullptr)
        end_epoch(*context.checked_state);
    if (is_in_cluster(context))
        ++context.cluster->epoch;
}

// Stores the lanes whose phase has ended in the first word of lane_data. The objects and phases of
// all lanes stay in the warp for `emulator_wait_for_phases`. `tries`: the instruction waits.
EXPORT uint32_t emulator_check_phases(Context *context, Warp *warp, uint32_t instruction,
                                      uint32_t mask, uint32_t tries)
{
    uint32_t code = check_objects(*context, instruction, context->lane_addresses, mask);
    if (code != FaultCode::NONE)
        return code;
    for (uint32_t lane : Lanes{mask}) {
        warp->awaited[lane] = context->lane_addresses[lane];
        warp->awaited_phases[lane] = context->lane_data[lane];
    }
    uint32_t past = lanes_past(*context, context->lane_addresses, context->lane_data, mask);
    if (past != 0)
        join_others(*context);
    if (mask != 0 && (tries || past == mask)) {
        uint32_t first = lowest_lane(mask);
        trace_object(*warp, instruction, context->lane_addresses[first],
                     context->lane_data[first] >> 31, mask);
    }
    context->lane_data[0] = past;
    return FaultCode::NONE;
}

// Suspends the running path until the phases of the `missing` lanes have ended, and then sets their
// predicate bits at `truths`. If `tries` is 0 the path waits only until others have had a turn.
EXPORT void emulator_wait_for_phases(Context *, Warp *warp, uint32_t missing, uint32_t pc,
                                     uint32_t *truths, uint32_t tries)
{
    uint32_t slot = push_path(*warp, warp->mask, pc, tries ? WAIT_PHASE : WAIT_TURN);
    warp->path_missing[slot] = missing;
    warp->path_truths[slot] = truths;
}

// Releases a path if the phases of all its lanes have ended, or `anyway`.
static bool release_path(Context &context, Warp &warp, uint32_t slot, bool anyway)
{
    if (warp.path_wait[slot] == WAIT_PHASE) {
        uint32_t missing = warp.path_missing[slot];
        uint32_t past = lanes_past(context, warp.awaited, warp.awaited_phases, missing);
        if (past != missing && !anyway)
            return false;
        if (past != 0)
            join_others(context);
        *warp.path_truths[slot] |= past;
    }
    warp.path_wait[slot] = WAIT_NONE;
    if (warp.mask == 0)
        next_path(warp);
    return true;
}

static bool waits_for_phase(const Warp &warp, uint32_t slot)
{
    return waits_for(warp, slot, WAIT_PHASE) || waits_for(warp, slot, WAIT_TURN);
}

static Released release_paths_that_wait(Context &context, bool anyway)
{
    Released released = Released::NONE;
    for (Warp &warp : Warps{context})
        for (uint32_t slot = 0; slot < warp.path_count; ++slot) {
            bool asks = warp.path_wait[slot] == WAIT_TURN;
            if (!waits_for_phase(warp, slot) || !release_path(context, warp, slot, anyway))
                continue;
            released = asks && released != Released::SOME ? Released::ASKING : Released::SOME;
        }
    return released;
}

Released release_phases(Context &context, bool others)
{
    if (others || is_in_cluster(context)) // others may end a phase
        return release_paths_that_wait(context, false);
    // A try_wait returns false after some time, and the program may then do something else.
    if (++context.idle_rounds > IDLE_ROUNDS)
        return Released::NONE;
    Released released = release_paths_that_wait(context, false);
    return released == Released::NONE ? release_paths_that_wait(context, true) : released;
}

bool blame_path(Context &context)
{
    for (const Warp &warp : Warps{context})
        for (uint32_t slot = 0; slot < warp.path_count; ++slot) {
            bool at_cluster = waits_for(warp, slot, WAIT_CLUSTER);
            if (!at_cluster && !waits_for_phase(warp, slot))
                continue;
            context.fault_warp = warp.index;
            context.fault_lane = lowest_lane(at_cluster ? warp.path_mask[slot]
                                                        : warp.path_missing[slot]);
            context.fault_block = warp.path_pc[slot];
            return true;
        }
    return false;
}
