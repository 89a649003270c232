// Divergence: lanes that took different sides of a branch are separate paths.
//
// Paths merge at the BSYNC of the convergence barrier that BSSY set, and at the places where the
// hardware chooses the next path. The running path is the warp's mask and pc; slots hold all other
// paths.
//
// The order of paths is an H100's, derived from its counts of executed instructions and threads
// (docs/devices.md). The side of a branch with fewer lanes runs first (opcodes/control.py). When a
// path waits or ends, the other side of the last branch runs, if it has not run yet; only this side
// is remembered. Otherwise all paths at the pc of the newest path run as one path: they execute a
// BSYNC there together, or pass a WARPSYNC together with paths that already wait at it. Paths that
// wait while others leave their barrier (EXIT, BREAK) execute its BSYNC once more; paths that
// arrive at a WARPSYNC together in any other way execute it once more together.
#include "warps/paths.h"

static void make_newest(Warp &warp, uint32_t slot) { warp.path_age[slot] = ++warp.path_clock; }

static bool can_run(const Warp &warp, uint32_t slot)
{
    int32_t wait = warp.path_wait[slot];
    return warp.path_mask[slot] != 0 && (wait == WAIT_NONE || wait == WAIT_APART);
}

// A jump to several targets makes a path for each. The last path runs; it counts as one side of the
// jump.
static void go_on_at_once(Warp &warp, uint32_t slot)
{
    if (warp.path_resumed != NO_PATH)
        warp.path_other_side = warp.path_resumed;
    warp.path_resumed = slot;
}

uint32_t push_path(Warp &warp, uint32_t mask, uint32_t pc, int32_t wait)
{
    uint32_t slot = 0;
    while (slot < warp.path_count && warp.path_mask[slot] != 0)
        ++slot;
    warp.path_mask[slot] = mask;
    warp.path_pc[slot] = pc;
    warp.path_wait[slot] = wait;
    make_newest(warp, slot);
    if (wait == WAIT_NONE)
        warp.path_other_side = slot;
    if (wait == WAIT_APART)
        go_on_at_once(warp, slot);
    if (slot == warp.path_count)
        ++warp.path_count;
    return slot;
}

EXPORT void emulator_push_path(Warp &warp, uint32_t mask, uint32_t pc, int32_t wait)
{
    push_path(warp, mask, pc, wait);
}

static uint32_t newest_path(const Warp &warp)
{
    uint32_t newest = 0, chosen = NO_PATH;
    for (uint32_t slot = 0; slot < warp.path_count; ++slot) {
        if (can_run(warp, slot) && warp.path_age[slot] > newest) {
            newest = warp.path_age[slot];
            chosen = slot;
        }
    }
    return chosen;
}

static_assert(PATH_SLOTS == WARP_LANES); // masks of slots are masks of lanes

// The oldest path whose slot is in a mask; NO_PATH if the mask is 0.
static uint32_t oldest_path(const Warp &warp, uint32_t slots)
{
    uint32_t oldest = FULL_MASK, chosen = NO_PATH;
    for (uint32_t slot : Lanes{slots})
        if (warp.path_age[slot] < oldest) {
            oldest = warp.path_age[slot];
            chosen = slot;
        }
    return chosen;
}

// Removes a path from its slot. Returns its lanes.
static uint32_t take(Warp &warp, uint32_t slot)
{
    uint32_t mask = warp.path_mask[slot];
    warp.path_mask[slot] = 0;
    while (warp.path_count != 0 && warp.path_mask[warp.path_count - 1] == 0)
        --warp.path_count;
    return mask;
}

// Removes all paths at the warp's pc that can merge. Returns their lanes.
static uint32_t gather(Warp &warp)
{
    uint32_t mask = 0;
    for (uint32_t slot = 0; slot < warp.path_count; ++slot)
        if (waits_for(warp, slot, WAIT_NONE) && warp.path_pc[slot] == warp.pc)
            mask |= take(warp, slot);
    return mask;
}

bool next_path(Warp &warp)
{
    uint32_t chosen = warp.path_resumed;
    if (chosen == NO_PATH) {
        chosen = warp.path_other_side;
        warp.path_other_side = NO_PATH;
    }
    warp.path_resumed = warp.gathered_at = NO_PATH;
    bool known = chosen != NO_PATH;
    if (!known)
        chosen = newest_path(warp);
    warp.mask = 0;
    if (chosen == NO_PATH)
        return false;
    warp.pc = warp.path_pc[chosen];
    bool alone = known || warp.path_wait[chosen] == WAIT_APART;
    if (!alone)
        warp.gathered_at = warp.pc;
    warp.mask = alone ? take(warp, chosen) : gather(warp);
    return true;
}

uint32_t change_path(Warp &warp)
{
    uint32_t others = lanes_where(
        [&](uint32_t slot) { return slot < warp.path_count && can_run(warp, slot); });
    if (others == 0)
        return 0;
    uint32_t chosen = oldest_path(warp, others);
    uint32_t mask = warp.path_mask[chosen], pc = warp.path_pc[chosen];
    warp.path_mask[chosen] = warp.mask;
    warp.path_pc[chosen] = warp.pc;
    warp.path_wait[chosen] = WAIT_NONE;
    make_newest(warp, chosen);
    warp.mask = mask;
    warp.pc = pc;
    warp.path_resumed = warp.path_other_side = warp.gathered_at = NO_PATH;
    return count_lanes(others);
}

bool pass_barrier(Warp &warp)
{
    uint32_t waiting = lanes_where([&](uint32_t slot) {
        return slot < warp.path_count && warp.path_mask[slot] != 0 &&
               uint32_t(warp.path_wait[slot]) < WARPSYNC_BARRIER;
    });
    uint32_t chosen = oldest_path(warp, waiting);
    if (chosen == NO_PATH)
        return false;
    for (uint32_t &together : warp.participants[warp.path_wait[chosen]])
        together &= ~warp.path_mask[chosen];
    warp.path_wait[chosen] = WAIT_NONE;
    warp.path_age[chosen] = 0; // it runs next
    return true;
}

// The basic block at a code offset that a computed branch may reach; -1 otherwise.
EXPORT uint32_t emulator_find_block(const Context *context, uint32_t offset, uint32_t table)
{
    auto places = reinterpret_cast<const CodePlace *>(context->jump_tables[table]);
    for (uint32_t index = 0; index < context->jump_counts[table]; ++index)
        if (places[index].offset == offset)
            return places[index].block;
    return -1;
}

EXPORT uint32_t emulator_next_path(Warp &warp) { return next_path(warp); }

// The living lanes that the lowest lane of a mask waits for at a barrier, itself included.
static uint32_t expected_lanes(const Warp &warp, uint32_t barrier, uint32_t mask)
{
    return warp.participants[barrier][lowest_lane(mask)] & warp.live;
}

// Whether the path in a slot waits at this barrier for the same lanes. A __syncwarp() of other
// lanes is another barrier.
static bool waits_likewise(const Warp &warp, uint32_t slot, uint32_t barrier, uint32_t expected)
{
    uint32_t mask = warp.path_mask[slot];
    return uint32_t(warp.path_wait[slot]) == barrier && (mask & expected) != 0 &&
           expected_lanes(warp, barrier, mask) == expected;
}

// Counts one more execution of a block's last instruction by the same threads.
EXPORT void emulator_repeat_block_end(Context &context, uint32_t block)
{
    ++context.block_counts[uint64_t(block) * COUNTS_PER_BLOCK + COUNTS_PER_BLOCK - 1];
}

// Orders all earlier accesses of the lanes before their later accesses (checked mode). The order is
// transitive: it includes lanes with which any of them synchronised before, and lanes that have
// ended.
EXPORT void emulator_sync_lanes(Warp &warp, uint32_t mask)
{
    uint32_t now = ++warp.sync_count, there = mask | ~warp.live;
    if (there == FULL_MASK) {
        warp.synced = now;
        return;
    }
    uint32_t known[WARP_LANES] = {};
    for (uint32_t lane : Lanes{mask})
        for (uint32_t other = 0; other < WARP_LANES; ++other)
            if (warp.ordered_until[lane][other] > known[other])
                known[other] = warp.ordered_until[lane][other];
    for (uint32_t lane : Lanes{there})
        known[lane] = now;
    for (uint32_t lane : Lanes{mask})
        memcpy(warp.ordered_until[lane], known, sizeof known);
}

// All lanes have arrived: paths with the slot's pc join it; other paths (a __syncwarp() elsewhere)
// continue separately. At a collective operation all join, from any pc.
static void merge(Context &context, Warp &warp, uint32_t slot, uint32_t expected, uint32_t repeat)
{
    uint32_t barrier = warp.path_wait[slot];
    uint32_t pc = warp.path_pc[slot];
    bool several = false;
    for (uint32_t other = 0; other < warp.path_count; ++other) {
        if (!waits_likewise(warp, other, barrier, expected))
            continue;
        warp.path_wait[other] = WAIT_APART;
        if (other == slot)
            continue;
        several = true;
        if (barrier == COLLECTIVE_BARRIER || warp.path_pc[other] == pc) {
            warp.path_mask[slot] |= warp.path_mask[other];
            warp.path_mask[other] = 0;
        }
    }
    make_newest(warp, slot);
    if (repeat >= Repeat::ALWAYS || (repeat == Repeat::IF_SEVERAL_PATHS && several))
        emulator_repeat_block_end(context, pc - 1);
    if (repeat != Repeat::AS_OTHERS_LEFT)
        warp.path_resumed = slot;
}

// Lanes have arrived at a barrier, or (Repeat::AS_OTHERS_LEFT) have left it. Merges the waiting
// paths of every convergence barrier at which all living participants have arrived; the last path
// to arrive continues at once.
EXPORT void emulator_release_paths(Context &context, Warp &warp, uint32_t repeat)
{
    for (uint32_t slot = 0; slot < warp.path_count; ++slot) {
        uint32_t barrier = warp.path_wait[slot], mask = warp.path_mask[slot];
        if (mask == 0 || barrier >= CONVERGENCE_BARRIERS) // WAIT_NONE is the largest value
            continue;
        uint32_t expected = expected_lanes(warp, barrier, mask), arrived = 0;
        for (uint32_t other = 0; other < warp.path_count; ++other)
            if (waits_likewise(warp, other, barrier, expected))
                arrived |= warp.path_mask[other] & expected;
        if (arrived != expected)
            continue;
        // Programs cannot rely on a meeting at a BSYNC: the hardware decides it.
        if (context.checked_state != nullptr && barrier >= WARPSYNC_BARRIER)
            emulator_sync_lanes(warp, expected);
        merge(context, warp, slot, expected, repeat);
    }
}
