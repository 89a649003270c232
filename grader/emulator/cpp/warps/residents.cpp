// Runs the blocks of a grid in order. A block runs to its end unless it waits for another block;
// then further blocks start, up to the number of resident blocks, and take turns until one ends. If
// nothing changes for any of them, they wait forever.
//
// At an atomic that returns a value (a ticket, a queue) the order of blocks decides which block
// gets the work. A block therefore waits at such an atomic for blocks that reach it earlier by
// their warps' clocks. All initially resident blocks start at clock 0, each further block at the
// end of a block.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "memory/under_way.h"
#include "warps/blocks.h"
#include "warps/clusters.h"

// --- where blocks live ---------------------------------------------------------------------------

constexpr uint64_t SAVED_FROM = offsetof(Context, warps);
constexpr uint64_t SAVED_BYTES = offsetof(Context, block_end) - SAVED_FROM;
constexpr uint64_t CHECKED_BYTES = offsetof(CheckedState, global_tags);

// The state of a block (context and checked mode) and its executed warp instructions. The state of
// an ended block gives its memory to a new block.
struct Resident {
    uint8_t saved[SAVED_BYTES], checked[CHECKED_BYTES];
    int64_t executed, next; // clock of the second warp that reaches an atomic
};

// Cycles by which a block may run ahead of the next block; and of its own turn if it is ahead of
// all.
constexpr int64_t TURN = 100, LONG_TURN = 100'000;

struct Residents {
    std::vector<Resident> waiting, vacant;
    std::vector<Cluster *> clusters; // clusters whose blocks have all ended are reused
    std::vector<void *> owned;
    std::map<std::pair<int64_t, uint64_t>, Resident> drawing; // by clock, then by arrival
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> ends; // of blocks
    uint64_t turns;
    int64_t now; // clock of the last block that drew
};

static Resident save(const Context &context)
{
    Resident found{};
    memcpy(found.saved, reinterpret_cast<const uint8_t *>(&context) + SAVED_FROM, SAVED_BYTES);
    found.executed = context.block_budget - context.budget;
    found.next = context.draws[1];
    if (context.checked_state != nullptr)
        memcpy(found.checked, context.checked_state, CHECKED_BYTES);
    return found;
}

static void restore(Context &context, const Resident &resident)
{
    memcpy(reinterpret_cast<uint8_t *>(&context) + SAVED_FROM, resident.saved, SAVED_BYTES);
    context.block_budget = context.budget + resident.executed;
    if (context.checked_state != nullptr)
        memcpy(context.checked_state, resident.checked, CHECKED_BYTES);
}

// Zeroed memory at a cache line; untouched pages cost nothing.
static uint64_t allocate(Residents &all, uint64_t bytes)
{
    void *memory = calloc(bytes + CACHE_LINE, 1);
    if (memory == nullptr)
        return 0;
    all.owned.push_back(memory);
    return (reinterpret_cast<uint64_t>(memory) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

// Ends the traces of a block's warps.
static void stop_traces(const Context &context, Warp *warps)
{
    auto first = reinterpret_cast<uint8_t *>(warps);
    for (uint32_t index = 0; index < context.warp_count; ++index)
        reinterpret_cast<Warp *>(first + uint64_t(index) * context.warp_bytes)->trace_end = nullptr;
}

// Gives the context memory for another block. Returns a FaultCode.
static uint32_t allocate_block(Context &context, Residents &all)
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
        state->shared_tags = allocate(all, state->shared_tag_bytes);
        uint64_t bytes = state->shared_tag_bytes / sizeof(Tags) * sizeof(uint32_t);
        state->shared_ticket_owners = allocate(all, bytes);
        state->shared_calm = reinterpret_cast<uint32_t *>(allocate(all, bytes));
        found &= state->shared_tags != 0 && state->shared_ticket_owners != 0 &&
                 state->shared_calm != nullptr;
    }
    if (!found)
        return context.fault_code = FaultCode::OUT_OF_MEMORY;
    memcpy(host_pointer(warps), known, warp_bytes);
    context.warps = reinterpret_cast<Warp *>(warps);
    stop_traces(context, context.warps);
    return FaultCode::NONE;
}

// --- the trace of a long block -------------------------------------------------------------------

// The clock from which a block is clearly longer than a block of this length.
static int64_t clearly_longer(int64_t cycles) { return cycles + cycles / 4; }

// The cycles so far of the block in the buffers for a late trace; 0 if it has ended.
static int64_t cycles_of_traced(Context &context)
{
    if (context.late_warps == nullptr)
        return 0;
    std::swap(context.warps, context.late_warps);
    int64_t clock = latest_clock(context);
    std::swap(context.warps, context.late_warps);
    return clock - context.late_started;
}

// Lets the block's warps write to the trace buffers.
static void start_traces(Context &context)
{
    for (Warp &warp : Warps{context}) {
        warp.trace = reinterpret_cast<uint32_t *>(context.traces[warp.index].first);
        warp.trace_end = reinterpret_cast<uint32_t *>(context.traces[warp.index].end);
    }
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
    for (uint32_t index = 0; index < context.warp_count; ++index)
        context.traces[index].first = context.traces[index].end - context.late_bytes;
    start_traces(context);
    context.traces[context.warp_count] = {0, uint64_t(cycles)};
}

// --- a block's beginning and end -----------------------------------------------------------------

// The block of a turn. In reversed runs, only blocks that are resident together are exchanged: a
// block may wait for earlier blocks.
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

// An ended cluster, or a new one.
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

// Starts a new epoch without tags, in the checked mode; false: out of memory.
static bool forget_tags(const Context &context, Residents &all, Cluster &cluster)
{
    ++cluster.epoch;
    if (context.checked_state == nullptr)
        return true;
    uint64_t granules = context.checked_state->shared_tag_bytes / sizeof(Tags);
    uint64_t bytes = context.cluster_blocks * granules * sizeof(uint64_t);
    for (uint64_t **tags : {&cluster.writers, &cluster.readers}) {
        if (*tags == nullptr)
            *tags = reinterpret_cast<uint64_t *>(allocate(all, bytes));
        if (*tags == nullptr)
            return false;
        memset(*tags, 0, bytes);
    }
    return true;
}

// The block joins its cluster; false: out of memory.
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

// Lets the context's block run until it reaches an atomic that other blocks reach first.
static void set_horizon(Context &context, const Residents &all, int64_t clock)
{
    if (context.checked_state != nullptr)
        return;
    if (!all.drawing.empty() && all.drawing.begin()->first.first < clock)
        clock = all.drawing.begin()->first.first;
    context.horizon = clock + TURN;
}

// Moves a waiting block's clocks forward to the present.
static void catch_up(Context &context, int64_t now)
{
    for (Warp &warp : Warps{context})
        warp.clock = warp.clock < now ? now : warp.clock;
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
    context.started = context.waiting = 0;
    if (Residents *all = context.most_resident == 0 ? nullptr : context.residents) {
        if (context.blocks_begun >= context.most_resident && !all->ends.empty()) {
            context.started = all->ends.top();
            all->ends.pop();
        }
        set_horizon(context, *all, context.started);
    }
    ++context.blocks_begun;
    if (is_in_cluster(context) && !join_cluster(context))
        return context.fault_code = FaultCode::OUT_OF_MEMORY;
    begin_block(context);
    if (context.traces != nullptr)
        start_traces(context);
    return FaultCode::NONE;
}

static void end(Context &context)
{
    int64_t executed = context.block_budget - context.budget;
    int64_t last = latest_clock(context), cycles = last - context.started;
    context.cycles += cycles;
    context.finished = std::max(context.finished, last);
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
    for (Warp &warp : Warps{context}) {
        context.traces[warp.index].first = reinterpret_cast<uint64_t>(warp.trace);
        warp.trace_end = nullptr;
    }
    context.traces[context.warp_count].first = executed - context.waiting;
    context.traces = nullptr;
    if (late) {
        context.late_warps = nullptr;
        context.late_from = clearly_longer(cycles);
    }
}

// --- turns ---------------------------------------------------------------------------------------

// Ends a block's turn with this code. A block that stays keeps its memory, and the context gets
// other memory. Returns a FaultCode.
static uint32_t end_turn(Context &context, Residents &all, uint32_t code)
{
    if (code == FaultCode::NONE) {
        end(context);
        return code;
    }
    if (code == DRAWS) {
        all.drawing.emplace(std::pair(context.draws[0], all.turns++), save(context));
    } else if (code == WAITS || code == STALLED) {
        ++context.block_waits;
        all.waiting.push_back(save(context));
    } else {
        return code;
    }
    return allocate_block(context, all);
}

// Runs the block that reaches an atomic first. Returns a FaultCode.
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

// Gives each waiting block a turn; if nothing changes, further blocks may start. Returns a
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
        if (code != WAITS && code != STALLED && is_in_cluster(context))
            catch_up(context, all.now);
        code = end_turn(context, all, code);
        if (code != FaultCode::NONE)
            return code;
    }
    // Alternating directions release a chain of waiting blocks within two rounds.
    if (moved)
        std::reverse(all.waiting.begin(), all.waiting.end());
    return FaultCode::NONE;
}

// Gives resident blocks turns. Returns a FaultCode.
static uint32_t run_turns(Context &context, Residents &all, bool &moved)
{
    moved = true;
    return all.drawing.empty() ? run_waiting(context, all, moved) : run_first(context, all);
}

// All waiting blocks wait forever: stores the first of them as the fault.
static uint32_t blame_first(Context &context, Residents &all)
{
    restore(context, all.waiting.front());
    return blame_waiting(context);
}

// Sleeps for a moment because a program may write the awaited value; false: its time is over.
// Sleeps become longer, up to a millisecond.
static bool wait_for_host(Context &context, int64_t &slept)
{
    if (slept >= context.host_wait)
        return false;
    int64_t most = 1'000'000, next = slept < 10'000 ? 10'000 : slept;
    timespec pause{0, next < most ? next : most};
    nanosleep(&pause, nullptr);
    slept += pause.tv_nsec;
    return true;
}

// Runs a block that cannot wait for other blocks. Returns a FaultCode.
static uint32_t run_alone(Context &context)
{
    uint32_t code;
    int64_t slept = 0;
    do
        code = run_block(context);
    while (code == WAITS || (code == STALLED && wait_for_host(context, slept)));
    if (code == STALLED)
        return blame_waiting(context);
    if (code == FaultCode::NONE)
        end(context);
    return code;
}

// Runs a block that may wait for other blocks. Returns a FaultCode.
static uint32_t run_among_others(Context &context)
{
    Residents &all = *context.residents;
    uint32_t code = end_turn(context, all, run_block(context));
    // One cluster is enough unless it waits for other clusters.
    uint64_t enough = is_in_cluster(context) ? context.cluster_blocks : context.most_resident;
    int64_t slept = 0;
    for (bool moved = true; code == FaultCode::NONE && moved;) {
        uint64_t there = all.waiting.size() + all.drawing.size();
        if (there < context.most_resident && all.waiting.size() < enough)
            break;
        code = run_turns(context, all, moved);
        slept = moved ? 0 : slept;
        if (code == FaultCode::NONE && !moved && all.waiting.size() >= context.most_resident &&
            !(moved = wait_for_host(context, slept)))
            code = blame_first(context, all);
    }
    return code;
}

// Runs the blocks first to last - 1 in order; blocks may still wait afterwards. Returns a
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

// Runs all waiting blocks to their ends unless the launch has a fault. Returns a FaultCode.
EXPORT uint32_t emulator_finish_blocks(Context *context)
{
    uint32_t code = context->fault_code;
    Residents *all = context->residents;
    if (all == nullptr)
        return code;
    int64_t slept = 0;
    for (bool moved; code == FaultCode::NONE && !(all->waiting.empty() && all->drawing.empty());) {
        code = run_turns(*context, *all, moved);
        slept = moved ? 0 : slept;
        if (code == FaultCode::NONE && !moved && !wait_for_host(*context, slept))
            code = blame_first(*context, *all);
    }
    forget_work(*context);
    for (void *memory : all->owned)
        free(memory);
    delete all;
    context->residents = nullptr;
    return code;
}
