// The blocks of a cluster, and its barrier.
#include "warps/clusters.h"
#include "warps/paths.h"

// --- places --------------------------------------------------------------------------------------

struct Place {
    uint64_t x, y, z;
};

static Place place_in(uint64_t number, uint64_t width, uint64_t height)
{
    return {number % width, number / width % height, number / width / height};
}

static uint64_t number_in(Place place, uint64_t width, uint64_t height)
{
    return place.x + width * (place.y + height * place.z);
}

uint64_t block_of_cluster(const Context &context, uint64_t turn)
{
    uint64_t x = context.cluster_x, y = context.cluster_y, z = context.cluster_z;
    uint64_t width = context.grid_x, height = context.grid_y;
    Place cluster = place_in(turn / context.cluster_blocks, width / x, height / y);
    Place inside = place_in(turn % context.cluster_blocks, x, y);
    Place block{cluster.x * x + inside.x, cluster.y * y + inside.y, cluster.z * z + inside.z};
    return number_in(block, width, height);
}

uint64_t cluster_number(const Context &context)
{
    uint64_t x = context.cluster_x, y = context.cluster_y, z = context.cluster_z;
    Place cluster{context.ctaid_x / x, context.ctaid_y / y, context.ctaid_z / z};
    return number_in(cluster, context.grid_x / x, context.grid_y / y);
}

uint32_t rank_in_cluster(const Context &context)
{
    uint64_t x = context.cluster_x, y = context.cluster_y, z = context.cluster_z;
    Place inside{context.ctaid_x % x, context.ctaid_y % y, context.ctaid_z % z};
    return uint32_t(number_in(inside, x, y));
}

// --- shared memory of other blocks ---------------------------------------------------------------

uint32_t lanes_elsewhere(const Context &context, uint32_t mask)
{
    return mask & lanes_where([&](uint32_t lane) {
               return context.lane_addresses[lane] >> CLUSTER_SHIFT != context.cluster_rank;
           });
}

uint32_t shared_base_of(const Context &context, uint32_t address)
{
    uint32_t rank = address >> CLUSTER_SHIFT, own = context.cluster_rank;
    if (rank == own || rank >= context.cluster_blocks)
        return context.shared_base;
    return context.shared_base + ((rank - own) << CLUSTER_SHIFT);
}

// --- the barrier ---------------------------------------------------------------------------------

static void count_missing(Context &context, Cluster &cluster)
{
    uint32_t rank = context.cluster_rank;
    cluster.missing[rank] = cluster.living[rank] = 0;
    for (const Warp &warp : Warps{context}) {
        cluster.living[rank] += warp.live != 0;
        cluster.missing[rank] += warp.live != 0 && warp.cluster_arrivals == cluster.passed;
    }
    for (uint32_t other = 0; other < context.cluster_blocks; ++other)
        if (cluster.missing[other] != 0)
            return;
    ++cluster.passed;
    ++cluster.epoch;
    memcpy(cluster.missing, cluster.living, sizeof cluster.missing);
}

bool release_cluster(Context &context)
{
    if (!is_in_cluster(context))
        return false;
    count_missing(context, *context.cluster);
    bool released = false;
    for (Warp &warp : Warps{context}) {
        for (uint32_t slot = 0; slot < warp.path_count; ++slot) {
            if (!waits_for(warp, slot, WAIT_CLUSTER) ||
                warp.cluster_arrivals > context.cluster->passed)
                continue;
            warp.path_wait[slot] = WAIT_NONE;
            released = true;
        }
        if (warp.mask == 0)
            next_path(warp);
    }
    return released;
}

bool waits_for_cluster(Context &context)
{
    if (!is_in_cluster(context))
        return false;
    for (const Warp &warp : Warps{context})
        for (uint32_t slot = 0; slot < warp.path_count; ++slot)
            if (waits_for(warp, slot, WAIT_CLUSTER) || waits_for(warp, slot, WAIT_PHASE))
                return true;
    return false;
}

// Whether a warp that has arrived at its cluster's barrier must wait.
EXPORT uint32_t emulator_is_cluster_missing(const Context &context, const Warp &warp)
{
    return is_in_cluster(context) && warp.cluster_arrivals > context.cluster->passed;
}
