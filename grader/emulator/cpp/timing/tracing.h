// What a warp leaves behind for the timing model: the basic blocks that it ran and the accesses
// that it made, in their order.
//
// Words of 32 bits. A block is one word, BLOCK | its index. An access is ACCESS | space <<
// SPACE_SHIFT | the instruction's index, the mask of active lanes, its passes (wavefronts of shared
// memory, sectors of global memory, different words of constant memory; of a sleep its nanoseconds,
// of a call the function), and, for global and local memory, the 32 lower words of the lanes'
// addresses. A warp writes while its record has room; most warps have none.
#pragma once

#include "memory/counting.h"

void trace_access(const Context &context, Warp &warp, Access access, uint32_t passes,
                  uint32_t instruction, uint32_t mask);
// Of constants at lane_addresses.
void trace_constants(const Context &context, Warp &warp, uint32_t instruction, uint32_t mask);
