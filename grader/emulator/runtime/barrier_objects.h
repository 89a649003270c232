// Who waits for a phase of a barrier object to end.
#pragma once

#include "lanes.h"

// So many bytes of a copy have arrived at an object. Returns a FaultCode.
uint32_t complete_bytes(Context &context, uint32_t instruction, uint32_t address, uint32_t bytes);
// All warps of the block have had a turn: let those go on whose phase has ended, or else all that
// wait for one. False: there are none, or they have waited for too long.
bool release_phases(Context &context);
// Say where somebody waits for a phase or for a cluster; false: nobody does.
bool blame_path(Context &context);
