// The blocks of a grid, in order. Each runs to its end, unless it waits for what another one does:
// then others begin, as many together as the chip has room for, and all have turns until one ends.
// Where nothing changes for any of them any more, none will ever go on.
#include <cstdlib>
#include <vector>

#include "blocks.h"
#include "clusters.h"
#include "under_way.h"

// --- where blocks live ----------------------------------------------------------------------------

constexpr uint64_t SAVED_FROM = offsetof(Context, warps);
constexpr uint64_t SAVED_BYTES = offsetof(Context, block_end) - SAVED_FROM;

// What a context, and the checked mode, hold of a block, and how many warp instructions it has
// executed. That of a block that has ended says where another one can live.
struct Resident {
    uint8_t saved[SAVED_BYTES];
    uint64_t writers, readers, drawers, epoch, block;
    uint32_t acquired;
    int64_t executed;
};

struct Residents {
    std::vector<Resident> waiting, vacant;
    std::vector<Cluster *> clusters; // of those whose blocks have all ended others are made
    std::vector<void *> owned;
    bool downwards; // which way the next round goes
};

static Resident save(const Context &context)
{
    Resident found{};
    memcpy(found.saved, reinterpret_cast<const uint8_t *>(&context) + SAVED_FROM, SAVED_BYTES);
    found.executed = context.block_budget - context.budget;
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
    return FaultCode::NONE;
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
        found->ended = found->passed = 0;
        for (uint32_t rank = 0; rank < context.cluster_blocks; ++rank)
            found->missing[rank] = found->living[rank] = context.warp_count;
    }
    uint32_t base = context.shared_base & ((1u << CLUSTER_SHIFT) - 1);
    context.cluster_rank = rank_in_cluster(context);
    context.shared_base = base | context.cluster_rank << CLUSTER_SHIFT;
    context.shared_host = context.cluster->window;
    return true;
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
    if (executed > context.longest)
        context.longest = executed;
    end_work(context);
    if (is_in_cluster(context))
        ++context.cluster->ended;
    if (context.traces == nullptr)
        return;
    for (uint32_t index = 0; index < context.warp_count; ++index) {
        Warp &warp = warp_at(context, index);
        context.traces[index].first = reinterpret_cast<uint64_t>(warp.trace);
        warp.trace_end = nullptr;
    }
    context.traces[context.warp_count].first = executed;
}

// --- turns ----------------------------------------------------------------------------------------

// Each block that waits has a turn; where that changes nothing, others may begin. Returns a
// FaultCode.
static uint32_t run_waiting(Context &context, Residents &all, bool &moved)
{
    uint64_t kept = 0;
    moved = false;
    all.vacant.push_back(save(context));
    for (Resident &each : all.waiting) {
        restore(context, each);
        uint32_t code = run_block(context);
        if (code == WAITS || code == STALLED) {
            moved |= code == WAITS;
            all.waiting[kept++] = save(context);
            continue;
        }
        if (code != FaultCode::NONE)
            return code;
        moved = true;
        end(context);
        all.vacant.push_back(save(context));
    }
    all.waiting.resize(kept);
    if (!moved)
        return make_room(context, all);
    // Of a chain that has begun at its far end, a round to and fro lets all go on.
    for (uint64_t first = 0, last = kept; first + 1 < last; ++first, --last)
        std::swap(all.waiting[first], all.waiting[last - 1]);
    return make_room(context, all);
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
    uint32_t code = run_block(context);
    if (code == FaultCode::NONE)
        end(context);
    if (code != WAITS && code != STALLED)
        return code;
    Residents &all = *context.residents;
    all.waiting.push_back(save(context));
    code = make_room(context, all);
    // Those of a cluster are enough, unless they wait for other ones.
    uint64_t enough = is_in_cluster(context) ? context.cluster_blocks : context.most_resident;
    for (bool moved = true; code == FaultCode::NONE && all.waiting.size() >= enough && moved;) {
        code = run_waiting(context, all, moved);
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
    for (bool moved; code == FaultCode::NONE && !all->waiting.empty();) {
        code = run_waiting(*context, *all, moved);
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
