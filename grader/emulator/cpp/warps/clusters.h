// Thread-block clusters: blocks that share a barrier and read each other's shared memory.
#pragma once

#include "memory/counting.h"

// The largest that CUDA launches (with cudaFuncAttributeNonPortableClusterSizeAllowed).
constexpr uint32_t MOST_IN_CLUSTER = 16;

// A cluster whose blocks run. Its window of shared memory has one block's after the other's, each
// 2^CLUSTER_SHIFT bytes behind the one before.
struct Cluster {
    uint64_t number, window;
    uint32_t ended, passed;           // blocks that have ended; how often its barrier was passed
    uint32_t missing[MOST_IN_CLUSTER]; // by rank, warps that have not come to the barrier
    uint32_t living[MOST_IN_CLUSTER];
    // Of the checked mode: blocks that have ended, by rank; the epoch; and the tags of the last
    // writer and of a reader of each granule, one block's after the other's (cluster_races.cpp).
    uint32_t gone, epoch;
    uint64_t *writers, *readers;
    Slot elsewhere; // of accesses to other blocks' shared memory, which count for nothing
};

// Whether the context's block is one of a cluster that has several.
inline bool is_in_cluster(const Context &context) { return context.cluster_blocks > 1; }
// The block with a number in the order in which whole clusters run.
uint64_t block_of_cluster(const Context &context, uint64_t turn);
// The number of the cluster that the context's block belongs to, and the block's rank in it.
uint64_t cluster_number(const Context &context);
uint32_t rank_in_cluster(const Context &context);
// The lanes of a mask whose shared-window address lies in another block's memory.
uint32_t lanes_elsewhere(const Context &context, uint32_t mask);
// Where a block of the cluster that an address belongs to has its shared memory; 0: nowhere.
uint32_t shared_base_of(const Context &context, uint32_t address);
// All warps of the block have had a turn: count who has come to the cluster's barrier, and let go
// on who waits there no more. Returns whether somebody does.
bool release_cluster(Context &context);
// Whether somebody waits for other blocks of the cluster: at its barrier, or for a phase.
bool waits_for_cluster(const Context &context);
