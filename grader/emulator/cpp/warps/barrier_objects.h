// Who waits for a phase of a barrier object to end.
#pragma once

#include "warps/lanes.h"

// What is added to an object together: threads, those of them that leave for good, and bytes or
// copies that have come.
struct Arrival {
    uint32_t threads, leaving, copied;
};

// Where in the host's memory an object of the block or its cluster lies.
uint8_t *place_of_object(const Context &context, uint32_t address);
// Returns a FaultCode: an object lies in the block's shared memory, at a multiple of its size.
uint32_t check_objects(Context &context, uint32_t instruction, const uint32_t *addresses,
                       uint32_t mask);
// Who went on: nobody, some, or only such as ask whether a phase has ended and do not wait for it.
enum class Released { NONE, SOME, ASKING };
// All warps of the block have had a turn: let those go on whose phase has ended, or else all that
// wait for one. NONE: there are none, or they have waited for too long. `others` may go on
// meanwhile.
Released release_phases(Context &context, bool others);
// Say where somebody waits for a phase or for a cluster; false: nobody does.
bool blame_path(Context &context);
