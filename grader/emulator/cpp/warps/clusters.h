// Thread-block clusters: blocks with a common barrier and access to each other's shared memory.
#pragma once

#include "memory/counting.h"

// The largest cluster that CUDA launches (cudaFuncAttributeNonPortableClusterSizeAllowed).
constexpr uint32_t MOST_IN_CLUSTER = 16;

// A running cluster. Its window holds the shared memory of its blocks, at a distance of
// 2^CLUSTER_SHIFT bytes.
struct Cluster {
    uint64_t number, window;
    uint32_t ended, passed;            // blocks that have ended; how often its barrier was passed
    uint32_t missing[MOST_IN_CLUSTER]; // by rank, warps that have not come to the barrier
    uint32_t living[MOST_IN_CLUSTER];
    // Of the checked mode: blocks that have ended, by rank; the epoch; and the tags of the last
    // writer and of a reader of each granule, one block's after the other's (cluster_races.cpp).
    uint32_t gone, epoch;
    uint64_t *writers, *readers;
    Slot elsewhere; // of accesses to other blocks' shared memory, which count for nothing
};

// Whether the context's block belongs to a cluster of several blocks.
inline bool is_in_cluster(const Context &context) { return context.cluster_blocks > 1; }
// The linear index of a block, given its turn: whole clusters run one after another.
uint64_t block_of_cluster(const Context &context, uint64_t turn);
// The number of the context's cluster, and the rank of its block.
uint64_t cluster_number(const Context &context);
uint32_t rank_in_cluster(const Context &context);
// The lanes of a mask whose address lies in another block's shared memory.
uint32_t lanes_elsewhere(const Context &context, uint32_t mask);
// The base of the shared memory of the block that an address belongs to; 0: no block.
uint32_t shared_base_of(const Context &context, uint32_t address);
// Called after every warp of the block has had a turn. Counts arrivals at the cluster's barrier and
// releases paths when it is complete. Returns whether it released any.
bool release_cluster(Context &context);
// Whether a path waits for other blocks of the cluster, at the barrier or for a phase.
bool waits_for_cluster(Context &context);
