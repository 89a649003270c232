// Warps that wait for a phase of a barrier object (mbarrier).
#pragma once

#include "warps/lanes.h"

// The sum of arrivals at an object: threads, threads that leave the barrier for good (arrive.drop),
// and bytes or copies that have completed.
struct Arrival {
    uint32_t threads, leaving, copied;
};

// The object's address in the host's memory; it lies in the block or in its cluster.
uint8_t *place_of_object(const Context &context, uint32_t address);
// Checks that objects lie in shared memory at multiples of their size. Returns a FaultCode.
uint32_t check_objects(Context &context, uint32_t instruction, const uint32_t *addresses,
                       uint32_t mask);
// The paths that a round released: none, some, or only paths that test a phase without waiting.
enum class Released { NONE, SOME, ASKING };
// Called after every warp of the block has had a turn. Releases the paths whose phase has ended, or
// if there are none all waiting paths. NONE: no path waits, or they have waited too long. `others`:
// other blocks or warps can still run and end a phase.
Released release_phases(Context &context, bool others);
// Stores the place of a path that waits for a phase or a cluster as the fault; false if there is
// none.
bool blame_path(Context &context);
