// The blocks of a grid, in order. Each runs to its end, unless it waits for what another one does:
// then others begin, as many together as the chip has room for, and all have turns until one ends.
// Where nothing changes for any of them any more, none will ever go on.
//
// At an atomic that returns a value (a ticket, a queue) the order of blocks decides which of them gets
// the work. So a block that comes to it later than others do, by the clocks of warps, waits for its
// turn; all that are on the chip together begin at 0, and each next one when a block has ended.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "warps/blocks.h"
#include "warps/clusters.h"
#include "memory/under_way.h"

// --- where blocks live ----------------------------------------------------------------------------

constexpr uint64_t SAVED_FROM = offsetof(Context, warps);
constexpr uint64_t SAVED_BYTES = offsetof(Context, block_end) - SAVED_FROM;

// What a context, and the checked mode, hold of a block, and how many warp instructions it has
// executed. That of a block that has ended says where another one can live.
struct Resident {
    uint8_t saved[SAVED_BYTES];
    uint64_t writers, readers, drawers, epoch, block;
    uint32_t acquired;
    int64_t executed, next; // the clock of the second of its warps that come to an atomic
};

// Cycles that a block goes on beyond the next one, and beyond its own turn where it is ahead of all.
constexpr int64_t TURN = 100, LONG_TURN = 100'000;

struct Residents {
    std::vector<Resident> waiting, vacant;
    std::vector<Cluster *> clusters; // of those whose blocks have all ended others are made
    std::vector<void *> owned;
    std::map<std::pair<int64_t, uint64_t>, Resident> drawing; // by their clocks, then as they came
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> ends; // of places' last blocks
    uint64_t turns;
    int64_t now; // the clock of the block that drew last
};

static Resident save(const Context &context)
{
    Resident found{};
    memcpy(found.saved, reinterpret_cast<const uint8_t *>(&context) + SAVED_FROM, SAVED_BYTES);
    found.executed = context.block_budget - context.budget;
    found.next = context.draws[1];
    if (const CheckedState *state = context.checked_state) {
        found.writers = state->shared_writers;
        found.readers = state->shared_readers;
        found.drawers = state->shared_drawers;
        found.epoch = state->epoch;
        found.block = state->block;
        found.acquired = state->acquired;
    }
    return found;
}

static void restore(Context &context, const Resident &resident)
{
    memcpy(reinterpret_cast<uint8_t *>(&context) + SAVED_FROM, resident.saved, SAVED_BYTES);
    context.block_budget = context.budget + resident.executed;
    if (CheckedState *state = context.checked_state) {
        state->shared_writers = resident.writers;
        state->shared_readers = resident.readers;
        state->shared_drawers = resident.drawers;
        state->epoch = resident.epoch;
        state->block = resident.block;
        state->acquired = resident.acquired;
    }
}

// Zeros from a cache line on; what is not touched costs nothing.
static uint64_t allocate(Residents &all, uint64_t bytes)
{
    void *memory = calloc(bytes + CACHE_LINE, 1);
    if (memory == nullptr)
        return 0;
    all.owned.push_back(memory);
    return (reinterpret_cast<uint64_t>(memory) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

// Let warps of a block leave no trace.
static void stop_traces(const Context &context, Warp *warps)
{
    auto first = reinterpret_cast<uint8_t *>(warps);
    for (uint32_t index = 0; index < context.warp_count; ++index)
        reinterpret_cast<Warp *>(first + uint64_t(index) * context.warp_bytes)->trace_end = nullptr;
}

// Let the context hold room for another block than the one that it holds. Returns a FaultCode.
static uint32_t make_room(Context &context, Residents &all)
{
    if (!all.vacant.empty()) {
        restore(context, all.vacant.back());
        all.vacant.pop_back();
        context.traces = nullptr;
        return FaultCode::NONE;
    }
    const Warp *known = context.warps;
    context.traces = nullptr;
    uint64_t warp_bytes = uint64_t(context.warp_count) * context.warp_bytes;
    uint64_t local_bytes = uint64_t(context.warp_count) * WARP_LANES * context.local_bytes;
    uint64_t warps = allocate(all, warp_bytes);
    context.shared_host = allocate(all, context.shared_base + context.shared_bytes + CACHE_LINE);
    context.local_host = allocate(all, local_bytes);
    bool found = warps != 0 && context.shared_host != 0 && context.local_host != 0;
    if (CheckedState *state = context.checked_state) {
        state->shared_writers = allocate(all, state->shared_tag_bytes);
        state->shared_readers = allocate(all, state->shared_tag_bytes);
        state->shared_drawers = allocate(all, state->shared_tag_bytes);
        found &= state->shared_writers != 0 && state->shared_readers != 0;
        found &= state->shared_drawers != 0;
    }
    if (!found)
        return context.fault_code = FaultCode::NO_ROOM;
    memcpy(host_pointer(warps), known, warp_bytes);
    context.warps = reinterpret_cast<Warp *>(warps);
    stop_traces(context, context.warps);
    return FaultCode::NONE;
}

// --- the trace of a long block ---------------------------------------------------------------------

static uint64_t linear_block(const Context &context)
{
    return context.ctaid_x + uint64_t(context.grid_x) *
           (context.ctaid_y + uint64_t(context.grid_y) * context.ctaid_z);
}

// Cycles from which on a block is clearly longer than one of so many.
static int64_t clearly_longer(int64_t cycles) { return cycles + cycles / 4; }

// The cycles so far of the block whose trace is in the rooms for a long one; 0: it has ended.
static int64_t cycles_of_traced(Context &context)
{
    if (context.late_warps == nullptr)
        return 0;
    std::swap(context.warps, context.late_warps);
    int64_t clock = latest_clock(context);
    std::swap(context.warps, context.late_warps);
    return clock - context.late_started;
}

void trace_late(Context &context)
{
    int64_t cycles = latest_clock(context) - context.started;
    int64_t least = clearly_longer(cycles_of_traced(context));
    if (context.traces != nullptr || cycles < least) {
        context.late_from = least > context.late_from ? least : context.late_from;
        return;
    }
    if (context.late_warps != nullptr)
        stop_traces(context, context.late_warps);
    context.traces = context.late_traces;
    context.late_warps = context.warps;
    context.late_block = linear_block(context);
    context.late_started = context.started;
    context.late_from = clearly_longer(cycles);
    for (uint32_t index = 0; index < context.warp_count; ++index) {
        TraceRoom &room = context.traces[index];
        room.first = room.end - context.late_bytes;
        warp_at(context, index).trace = reinterpret_cast<uint32_t *>(room.first);
        warp_at(context, index).trace_end = reinterpret_cast<uint32_t *>(room.end);
    }
    context.traces[context.warp_count] = {0, uint64_t(cycles)};
}

// --- a block's beginning and end ------------------------------------------------------------------

// The block whose turn it is. In the opposite order, those that are on the chip together change
// places, and not all of them: a block may wait for those before it.
static uint64_t turn_in_order(const Context &context, uint64_t turn)
{
    uint64_t count = uint64_t(context.grid_x) * context.grid_y * context.grid_z;
    if (!context.reversed)
        return turn;
    uint64_t first = turn / context.reversed * context.reversed;
    uint64_t past = first + context.reversed < count ? first + context.reversed : count;
    return first + past - 1 - turn;
}

static uint64_t in_order(const Context &context, uint64_t turn)
{
    uint64_t ordered = turn_in_order(context, turn);
    return is_in_cluster(context) ? block_of_cluster(context, ordered) : ordered;
}

// A cluster that has ended, or a new one.
static Cluster *vacant_cluster(Context &context, Residents &all)
{
    for (Cluster *each : all.clusters)
        if (each->ended == context.cluster_blocks)
            return each;
    auto made = reinterpret_cast<Cluster *>(allocate(all, sizeof(Cluster)));
    if (made == nullptr)
        return nullptr;
    made->window = allocate(all, uint64_t(context.cluster_blocks) << CLUSTER_SHIFT);
    all.clusters.push_back(made);
    return made->window == 0 ? nullptr : made;
}

// Starts a new epoch without tags, in the checked mode; false: there is no room.
static bool forget_tags(const Context &context, Residents &all, Cluster &cluster)
{
    ++cluster.epoch;
    if (context.checked_state == nullptr)
        return true;
    uint64_t bytes = uint64_t(context.cluster_blocks) * context.checked_state->shared_tag_bytes;
    for (uint64_t **tags : {&cluster.writers, &cluster.readers}) {
        if (*tags == nullptr)
            *tags = reinterpret_cast<uint64_t *>(allocate(all, bytes));
        if (*tags == nullptr)
            return false;
        memset(*tags, 0, bytes);
    }
    return true;
}

// The block joins its cluster; false: there is no room.
static bool join_cluster(Context &context)
{
    Residents &all = *context.residents;
    uint64_t number = cluster_number(context);
    context.cluster = nullptr;
    for (Cluster *each : all.clusters)
        if (each->number == number && each->ended != context.cluster_blocks)
            context.cluster = each;
    if (context.cluster == nullptr) {
        Cluster *found = context.cluster = vacant_cluster(context, all);
        if (found == nullptr)
            return false;
        found->number = number;
        found->ended = found->passed = found->gone = 0;
        if (!forget_tags(context, all, *found))
            return false;
        for (uint32_t rank = 0; rank < context.cluster_blocks; ++rank)
            found->missing[rank] = found->living[rank] = context.warp_count;
    }
    uint32_t base = context.shared_base & ((1u << CLUSTER_SHIFT) - 1);
    context.cluster_rank = rank_in_cluster(context);
    context.shared_base = base | context.cluster_rank << CLUSTER_SHIFT;
    context.shared_host = context.cluster->window;
    return true;
}

// Let the context's block go on until it comes to an atomic that others come to first.
static void set_horizon(Context &context, const Residents &all, int64_t clock)
{
    if (context.checked_state != nullptr)
        return;
    if (!all.drawing.empty() && all.drawing.begin()->first.first < clock)
        clock = all.drawing.begin()->first.first;
    context.horizon = clock + TURN;
}

// Who has waited until now has not been ahead of others.
static void catch_up(Context &context, int64_t now)
{
    for (uint32_t index = 0; index < context.warp_count; ++index) {
        int64_t &clock = warp_at(context, index).clock;
        clock = clock < now ? now : clock;
    }
}

// Returns a FaultCode.
static uint32_t begin(Context &context, uint64_t linear)
{
    if (context.checked_state != nullptr)
        start_block(*context.checked_state, linear);
    uint64_t width = context.grid_x, height = context.grid_y;
    context.ctaid_x = uint32_t(linear % width);
    context.ctaid_y = uint32_t(linear / width % height);
    context.ctaid_z = uint32_t(linear / width / height);
    context.block_budget = context.budget;
    context.horizon = NEVER;
    context.started = 0;
    if (Residents *all = context.most_resident == 0 ? nullptr : context.residents) {
        if (context.blocks_begun >= context.most_resident && !all->ends.empty()) {
            context.started = all->ends.top();
            all->ends.pop();
        }
        set_horizon(context, *all, context.started);
    }
    ++context.blocks_begun;
    if (is_in_cluster(context) && !join_cluster(context))
        return context.fault_code = FaultCode::NO_ROOM;
    begin_block(context);
    if (context.traces == nullptr)
        return FaultCode::NONE;
    for (uint32_t index = 0; index < context.warp_count; ++index) {
        Warp &warp = warp_at(context, index);
        warp.trace = reinterpret_cast<uint32_t *>(context.traces[index].first);
        warp.trace_end = reinterpret_cast<uint32_t *>(context.traces[index].end);
    }
    return FaultCode::NONE;
}

static void end(Context &context)
{
    int64_t executed = context.block_budget - context.budget;
    int64_t last = latest_clock(context), cycles = last - context.started;
    context.cycles += cycles;
    if (cycles > context.longest) {
        context.longest = cycles;
        context.longest_block = linear_block(context);
    }
    if (context.residents != nullptr)
        context.residents->ends.push(last);
    end_work(context);
    if (is_in_cluster(context)) {
        ++context.cluster->ended;
        context.cluster->gone |= bit(context.cluster_rank);
    }
    bool late = context.traces == context.late_traces;
    if (context.traces == nullptr || (late && context.warps != context.late_warps)) {
        context.traces = nullptr;
        return;
    }
    for (uint32_t index = 0; index < context.warp_count; ++index) {
        Warp &warp = warp_at(context, index);
        context.traces[index].first = reinterpret_cast<uint64_t>(warp.trace);
        warp.trace_end = nullptr;
    }
    context.traces[context.warp_count].first = executed;
    context.traces = nullptr;
    if (late) {
        context.late_warps = nullptr;
        context.late_from = clearly_longer(cycles);
    }
}

// --- turns ----------------------------------------------------------------------------------------

// The block has had a turn, which ended so. Let the context hold another room where it stays in its
// own. Returns a FaultCode.
static uint32_t end_turn(Context &context, Residents &all, uint32_t code)
{
    if (code == FaultCode::NONE) {
        end(context);
        return code;
    }
    if (code == DRAWS)
        all.drawing.emplace(std::pair(context.draws[0], all.turns++), save(context));
    else if (code == WAITS || code == STALLED)
        all.waiting.push_back(save(context));
    else
        return code;
    return make_room(context, all);
}

// The block that comes to an atomic first has a turn. Returns a FaultCode.
static uint32_t run_first(Context &context, Residents &all)
{
    all.vacant.push_back(save(context));
    auto first = all.drawing.begin();
    restore(context, first->second);
    all.now = first->first.first;
    int64_t clock = first->second.next;
    all.drawing.erase(first);
    set_horizon(context, all, clock < all.now + LONG_TURN ? clock : all.now + LONG_TURN);
    return end_turn(context, all, run_block(context));
}

// Each block that waits has a turn; where that changes nothing, others may begin. Returns a
// FaultCode.
static uint32_t run_waiting(Context &context, Residents &all, bool &moved)
{
    std::vector<Resident> before;
    before.swap(all.waiting);
    moved = false;
    for (Resident &each : before) {
        all.vacant.push_back(save(context));
        restore(context, each);
        set_horizon(context, all, all.now);
        uint32_t code = run_block(context);
        moved |= code != STALLED;
        if (code != WAITS && code != STALLED)
            catch_up(context, all.now);
        code = end_turn(context, all, code);
        if (code != FaultCode::NONE)
            return code;
    }
    // Of a chain that has begun at its far end, a round to and fro lets all go on.
    if (moved)
        std::reverse(all.waiting.begin(), all.waiting.end());
    return FaultCode::NONE;
}

// Blocks that are there have turns. Returns a FaultCode.
static uint32_t run_turns(Context &context, Residents &all, bool &moved)
{
    moved = true;
    return all.drawing.empty() ? run_waiting(context, all, moved) : run_first(context, all);
}

// None of those that wait goes on any more.
static uint32_t blame_first(Context &context, Residents &all)
{
    restore(context, all.waiting.front());
    return blame_waiting(context);
}

// A block that cannot wait for others: until one of its warps goes on. Returns a FaultCode.
static uint32_t run_alone(Context &context)
{
    uint32_t code;
    do
        code = run_block(context);
    while (code == WAITS);
    if (code == STALLED)
        return blame_waiting(context);
    if (code == FaultCode::NONE)
        end(context);
    return code;
}

// A block that others may wait for, and that may wait for others: then it stays where it lives.
static uint32_t run_among_others(Context &context)
{
    Residents &all = *context.residents;
    uint32_t code = end_turn(context, all, run_block(context));
    // Those of a cluster are enough, unless they wait for other ones.
    uint64_t enough = is_in_cluster(context) ? context.cluster_blocks : context.most_resident;
    for (bool moved = true; code == FaultCode::NONE && moved;) {
        uint64_t there = all.waiting.size() + all.drawing.size();
        if (there < context.most_resident && all.waiting.size() < enough)
            break;
        code = run_turns(context, all, moved);
        if (code == FaultCode::NONE && !moved && all.waiting.size() >= context.most_resident)
            code = blame_first(context, all);
    }
    return code;
}

// Run the blocks first to last - 1 in order; some of them may wait afterwards. Returns a
// FaultCode.
EXPORT uint32_t emulator_run_blocks(Context *context, uint64_t first, uint64_t last)
{
    uint32_t code = FaultCode::NONE;
    if (context->residents == nullptr)
        context->residents = new Residents{};
    for (uint64_t turn = first; turn < last && code == FaultCode::NONE; ++turn) {
        code = begin(*context, in_order(*context, turn));
        if (code == FaultCode::NONE)
            code = context->most_resident == 0 ? run_alone(*context) : run_among_others(*context);
    }
    return code;
}

// Let all blocks that wait run to their ends, unless the launch has met a fault. Returns a
// FaultCode.
EXPORT uint32_t emulator_finish_blocks(Context *context)
{
    uint32_t code = context->fault_code;
    Residents *all = context->residents;
    if (all == nullptr)
        return code;
    for (bool moved; code == FaultCode::NONE && !(all->waiting.empty() && all->drawing.empty());) {
        code = run_turns(*context, *all, moved);
        if (code == FaultCode::NONE && !moved)
            code = blame_first(*context, *all);
    }
    forget_work(*context);
    for (void *memory : all->owned)
        free(memory);
    delete all;
    context->residents = nullptr;
    return code;
}
