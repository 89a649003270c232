// Races between the blocks of a cluster in shared memory. Accesses of two blocks to one place are
// ordered by the cluster's barrier, by a phase of a barrier object that a thread has waited for,
// and by an atomic or volatile read. Each of these ends an epoch of the cluster. Two accesses in
// one epoch race if one of them stores another value and not both are atomic or volatile.
//
// A tag has the layout of layouts/checked.py with these meanings: the detail is the rank of the
// block, the flag an atomic or volatile access, the owner the epoch.
#include "checked/checked.h"
#include "warps/clusters.h"

constexpr uint32_t SEVERAL = 1 << 8; // in the detail of a reader: other blocks read, too

// The place of a lane's access: the rank of the block, and the byte of its shared memory.
struct ClusterPlace {
    uint32_t rank, offset;

    ClusterPlace(const Context &context, uint32_t address)
        : rank(address >> CLUSTER_SHIFT), offset((address - context.shared_base) & WINDOW)
    {
    }

    static constexpr uint32_t WINDOW = (1u << CLUSTER_SHIFT) - 1;
};

static bool race(Tag own, Tag other)
{
    return other.owner() == own.owner() && other.detail() != own.detail() &&
           !(own.flag() && other.flag());
}

static void report_blocks(const CheckedAccess &checked, uint32_t code, Tag own, Tag other,
                          uint32_t rank, uint32_t address)
{
    const Context &context = checked.context;
    uint64_t turn = cluster_number(context) * context.cluster_blocks + rank;
    uint64_t base = context.shared_base & ~ClusterPlace::WINDOW;
    report(context, code, checked.instruction, own, other,
           ClusterPlace(context, address).offset + (context.shared_base - base),
           uint32_t(block_of_cluster(context, turn)));
}

static void watch_granule(const CheckedAccess &checked, Tag own, uint64_t place, uint32_t address,
                          bool changes)
{
    auto &cluster = *checked.context.cluster;
    Tag writer{cluster.writers[place]}, reader{cluster.readers[place]};
    bool races = (checked.reads() || changes) && race(own, writer);
    if (races || (changes && race(own, reader))) {
        Tag other = races ? writer : reader;
        report_blocks(checked, FindingCode::CLUSTER_RACE, own, other,
                      other.detail() & (SEVERAL - 1), address);
    }
    if (!checked.access.load)
        cluster.writers[place] = own.value;
    else if (reader.owner() != own.owner())
        cluster.readers[place] = own.value;
    else if (reader.detail() != own.detail())
        cluster.readers[place] = reader.value | uint64_t(SEVERAL) << DETAIL_SHIFT;
}

static void watch_lane(const CheckedAccess &checked, uint32_t lane)
{
    const Context &context = checked.context;
    Cluster &cluster = *context.cluster;
    uint32_t address = context.lane_addresses[lane];
    ClusterPlace at(context, address);
    if (at.offset - context.system_shared_first < context.system_shared_bytes)
        return;
    uint32_t thread = checked.access.is(AccessFlag::BULK) ? lowest_lane(checked.warp.mask) : lane;
    Tag own{uint64_t(cluster.epoch) << OWNER_SHIFT | (checked.plain() ? 0 : FLAG) |
            uint64_t(context.cluster_rank) << DETAIL_SHIFT |
            uint64_t(checked.instruction) << INSTRUCTION_SHIFT |
            (checked.warp.index * WARP_LANES + thread)};
    if (has(cluster.gone, at.rank))
        report_blocks(checked, FindingCode::ENDED_BLOCK, own, own, at.rank, address);
    bool changes = changes_memory(checked, lane) && !checked.access.load;
    uint64_t first = at.rank * (checked.state.shared_tag_bytes / sizeof(Tags)) +
                     (at.offset >> checked.shift);
    for (uint32_t granule = 0; granule < checked.granules(); ++granule)
        watch_granule(checked, own, first + granule, address, changes);
}

void watch_cluster(Context &context, const Warp &warp, Access access, uint32_t instruction,
                   uint32_t mask)
{
    CheckedState &state = *context.checked_state;
    CheckedAccess checked{
        context, state, warp, access, instruction, state.shared_shift, state.traits[instruction]};
    for (uint32_t lane : Lanes{mask})
        watch_lane(checked, lane);
    if (checked.has(Trait::DRAWS) || checked.has(Trait::EXCHANGES) ||
        (access.load && !checked.plain()))
        ++context.cluster->epoch;
}
