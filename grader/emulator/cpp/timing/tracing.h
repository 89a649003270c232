// A warp's trace for the timing model: the basic blocks that it ran and its accesses, in order.
//
// A trace consists of 32-bit words. A block is one word, BLOCK | index. An access is ACCESS | space
// << SPACE_SHIFT | instruction index, the mask of active lanes, its passes (shared memory:
// wavefronts; global memory: sectors; constants and matches: distinct words; a sleep: nanoseconds;
// a call: the function), and for global and local memory the lower address words of the 32 lanes.
// Operations on barrier objects have the object's number and the threads as passes, and copied
// bytes or the waiting lanes as the mask. Bulk copies have a line in place of a lane's address,
// with the mask of its sectors in the lowest bits. A warp writes while its record is not full; most
// warps have no record.
#pragma once

#include "memory/counting.h"

void trace_access(const Context &context, Warp &warp, Access access, uint32_t passes,
                  uint32_t instruction, uint32_t mask);
// What an instruction did to a barrier object: `threads` arrived, and `copied` bytes or copies did,
// or fewer if they are expected. Of a wait: the parity, and the mask of its lanes.
void trace_object(Warp &warp, uint32_t instruction, uint32_t address, uint32_t threads,
                  uint32_t copied);
// The warp waits in a loop, whose last round has so many words and instructions: the trace loses
// the rounds at its end.
void forget_rounds(Context &context, Warp &warp, int64_t words, int64_t instructions);
// For constants at lane_addresses.
void trace_constants(const Context &context, Warp &warp, uint32_t instruction, uint32_t mask);
