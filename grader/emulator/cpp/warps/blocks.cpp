// One block: resets its warps, runs them in turns, releases them from __syncthreads().
#include "warps/blocks.h"
#include "warps/barrier_objects.h"
#include "warps/clusters.h"

// --- a warp --------------------------------------------------------------------------------------

// Resets a warp to the start of a block: all lanes at the first instruction, registers and
// predicates zero.
static void reset(const Context &context, Warp &warp)
{
    warp.live = warp.mask = warp.initial;
    if (warp.sync_count != 0)
        memset(warp.ordered_until, 0, sizeof warp.ordered_until);
    warp.pc = warp.at_barrier = warp.at_named = warp.path_count = warp.path_clock = 0;
    warp.path_resumed = warp.path_other_side = warp.gathered_at = NO_PATH;
    warp.sync_count = warp.synced = warp.cluster_arrivals = 0;
    warp.waits = warp.stale = warp.spent = 0;
    warp.slice = FIRST_SLICE;
    memset(warp.restored, 0, sizeof warp.restored);
    memset(warp.uniform, 0, sizeof warp.uniform);
    memset(warp.predicates, 0, sizeof warp.predicates);
    memset(warp.uniform_predicates, 0, sizeof warp.uniform_predicates);
    memset(&warp + 1, 0, context.warp_bytes - sizeof warp); // the registers
}

// The slot of a path with any of the lanes.
static uint32_t path_of(const Warp &warp, uint32_t lanes)
{
    uint32_t found = 0;
    for (uint32_t slot = 0; slot < warp.path_count; ++slot)
        if (warp.path_mask[slot] & lanes)
            found = slot;
    return found;
}

int64_t latest_clock(Context &context)
{
    int64_t latest = 0;
    for (const Warp &warp : Warps{context})
        latest = warp.clock > latest ? warp.clock : latest;
    return latest;
}

// --- barriers of the block -----------------------------------------------------------------------

struct Votes {
    uint32_t count, truth;
};

// The result of BAR.RED after all threads have arrived: the number of true threads, and the "and"
// or "or" of all. Resets the votes.
static Votes take_votes(Context &context, uint32_t barrier)
{
    bool all = context.vote_mode[barrier] == VoteMode::ALL;
    bool truth = all ? context.vote_missing[barrier] == 0 : context.vote_any[barrier] != 0;
    Votes votes{context.vote_count[barrier], truth};
    context.vote_any[barrier] = context.vote_missing[barrier] = context.vote_count[barrier] = 0;
    return votes;
}

static void write_votes(Warp &warp, Votes votes)
{
    warp.voted_count = votes.count;
    warp.voted_truth = votes.truth;
}

// Releases a warp from __syncthreads(). A running path that waits (opcodes/barriers.py) continues.
static void release_warp(Warp &warp)
{
    if (warp.at_barrier == 0)
        return;
    warp.at_barrier = 0;
    for (uint32_t slot = 0; slot < warp.path_count; ++slot)
        if (warp.path_wait[slot] == WAIT_BLOCK)
            warp.path_wait[slot] = WAIT_NONE;
    if (warp.mask == 0)
        next_path(warp);
}

// Whether lanes of one warp wait at different __syncthreads(); stores the later place as the fault.
static bool waits_at_two_barriers(Context &context, const Warp &warp)
{
    bool found = false;
    uint32_t known = FULL_MASK;
    for (uint32_t slot = 0; slot < warp.path_count; ++slot) {
        uint32_t mask = warp.path_mask[slot], pc = warp.path_pc[slot];
        if (!waits_for(warp, slot, WAIT_BLOCK))
            continue;
        if (known != FULL_MASK && known != pc) {
            found = true;
            context.fault_code = FaultCode::BARRIER;
            context.fault_block = pc;
            context.fault_warp = warp.index;
            context.fault_lane = lowest_lane(mask);
            context.fault_other = known;
            context.fault_mask = mask;
        }
        known = pc;
    }
    return found;
}

// Releases all warps from __syncthreads(). Returns FaultCode::BARRIER if lanes of one warp wait at
// different barriers.
static uint32_t release_all(Context &context)
{
    Votes votes = take_votes(context, BLOCK_VOTE);
    int64_t latest = latest_clock(context);
    for (Warp &warp : Warps{context}) {
        if (waits_at_two_barriers(context, warp))
            return FaultCode::BARRIER;
        write_votes(warp, votes);
        release_warp(warp);
        warp.clock = latest;
    }
    return FaultCode::NONE;
}

static bool release_waiting(Warp &warp, int32_t wait, Votes votes)
{
    bool released = false;
    for (uint32_t slot = 0; slot < warp.path_count; ++slot) {
        if (!waits_for(warp, slot, wait))
            continue;
        warp.path_wait[slot] = WAIT_NONE;
        warp.at_named &= ~warp.path_mask[slot];
        write_votes(warp, votes);
        released = true;
    }
    if (warp.mask == 0)
        next_path(warp);
    return released;
}

// Releases the threads at complete barriers with a thread count; false if there are none.
static bool release_named(Context &context)
{
    uint32_t living = 0;
    for (const Warp &warp : Warps{context})
        living += warp.live != 0 ? WARP_LANES : 0;
    bool released = false;
    for (uint32_t barrier = 0; barrier < COUNTED_BARRIERS; ++barrier) {
        uint32_t arrived = context.named_arrived[barrier];
        uint32_t asked = context.named_expected[barrier];
        uint32_t expected = asked == 0 ? living : asked;
        if (arrived == 0 || arrived < expected)
            continue;
        context.named_arrived[barrier] = arrived - expected;
        Votes votes = take_votes(context, barrier);
        for (Warp &warp : Warps{context})
            released |= release_waiting(warp, WAIT_NAMED + barrier, votes);
    }
    return released;
}

// --- barriers that nobody can pass ---------------------------------------------------------------

// Stores the fault of lanes that wait for lanes of their own warp (__syncwarp(), a shuffle) which
// wait elsewhere.
static bool blame_warp_barrier(Context &context)
{
    for (const Warp &warp : Warps{context})
        for (uint32_t slot = 0; slot < warp.path_count; ++slot) {
            uint32_t mask = warp.path_mask[slot];
            if (!waits_for(warp, slot, WARPSYNC_BARRIER) &&
                !waits_for(warp, slot, COLLECTIVE_BARRIER))
                continue;
            context.fault_code = FaultCode::ABSENT_LANES;
            context.fault_block = warp.path_pc[slot];
            context.fault_lane = lowest_lane(mask);
            context.fault_warp = warp.index;
            context.fault_other = warp.path_pc[path_of(warp, warp.live & ~mask)];
            return true;
        }
    return false;
}

// Stores the fault of a __syncthreads() that some lanes cannot reach: one lane, and the barrier.
// Waits within a warp have priority.
static uint32_t blame_barrier(Context &context)
{
    context.fault_code = FaultCode::BARRIER;
    if (blame_path(context))
        return context.fault_code = FaultCode::ENDLESS_WAIT;
    if (blame_warp_barrier(context))
        return context.fault_code;
    for (const Warp &warp : Warps{context}) {
        uint32_t waiting = warp.at_barrier | warp.at_named, missing = warp.live ^ waiting;
        if (waiting != 0)
            context.fault_instruction = warp.barrier_instruction;
        if (missing != 0) {
            context.fault_warp = warp.index;
            context.fault_lane = lowest_lane(missing);
            context.fault_other = warp.path_pc[path_of(warp, missing)];
            context.fault_mask = missing;
        }
    }
    return context.fault_code;
}

// --- a block -------------------------------------------------------------------------------------

// The index of this turn: ascending, or descending in a reversed run.
static uint32_t in_order(const Context &context, uint32_t turn, uint32_t count)
{
    return context.reversed ? count - 1 - turn : turn;
}

void begin_block(Context &context)
{
    memset(host_pointer(context.shared_host) + context.shared_base, int(context.shared_poison),
           context.shared_bytes);
    memset(host_pointer(context.shared_host) + context.shared_base + context.system_shared_first, 0,
           context.system_shared_bytes);
    memset(context.named_arrived, 0, sizeof context.named_arrived);
    memset(context.named_expected, 0, sizeof context.named_expected);
    context.idle_rounds = 0;
    memset(context.vote_any, 0, sizeof context.vote_any);
    memset(context.vote_missing, 0, sizeof context.vote_missing);
    memset(context.vote_count, 0, sizeof context.vote_count);
    context.begun = 0;
    for (Warp &warp : Warps{context})
        warp.clock = context.started;
}

// The result of one turn of each warp.
struct Round {
    uint32_t living, stuck; // lanes of any warp: alive; alive and not at __syncthreads()
    bool moved, waits, stalled, draws;
};

// Runs each warp to its next barrier, to its end, or until it waits in a loop.
static uint32_t run_round(Context &context, Round &round)
{
    round = {0, 0, false, false, true, false};
    context.draws[0] = context.draws[1] = NEVER;
    for (uint32_t turn = 0; turn < context.warp_count; ++turn) {
        uint32_t index = in_order(context, turn, context.warp_count);
        Warp &warp = warp_at(context, index);
        if (turn >= context.begun) // so late that the registers stay in the processor's cache
            reset(context, warp);
        context.begun = turn < context.begun ? context.begun : turn + 1;
        bool runs = (warp.mask & ~warp.at_barrier) != 0;
        uint32_t code = run_warp(context, warp);
        if (unlikely(code == WAITS || code == STALLED)) {
            round.waits = true;
            round.stalled &= code == STALLED;
        } else if (unlikely(code == DRAWS)) {
            round.draws = true;
            int64_t &first = context.draws[0], &second = context.draws[1];
            second = warp.clock < first ? first : warp.clock < second ? warp.clock : second;
            first = warp.clock < first ? warp.clock : first;
        } else if (unlikely(code != FaultCode::NONE)) {
            context.fault_warp = index;
            return code;
        } else {
            round.moved |= runs;
        }
        round.living |= warp.live;
        round.stuck |= warp.live ^ warp.at_barrier;
    }
    return FaultCode::NONE;
}

uint32_t run_block(Context &context)
{
    bool moved = false;
    for (Round round;;) {
        uint32_t code = run_round(context, round);
        if (unlikely(code != FaultCode::NONE))
            return code;
        moved |= round.moved;
        bool released = release_cluster(context);
        Released phases = Released::SOME;
        if (unlikely(round.stuck != 0) && !released && !release_named(context))
            phases = release_phases(context, round.draws);
        if (phases == Released::ASKING && is_in_cluster(context))
            return WAITS; // what they ask for may be another block's to do
        if (unlikely(phases == Released::NONE)) {
            if (round.draws && !round.moved)
                return DRAWS;
            if (!round.moved && waits_for_cluster(context))
                return moved ? WAITS : STALLED;
            if (!round.waits && !round.draws && !waits_for_cluster(context))
                return blame_barrier(context);
            if (!round.moved)
                return round.stalled ? STALLED : WAITS;
            continue;
        }
        if (context.checked_state != nullptr)
            end_epoch(*context.checked_state);
        code = round.stuck == 0 ? release_all(context) : +FaultCode::NONE;
        if (round.living == 0 || code != FaultCode::NONE)
            return code;
    }
}
