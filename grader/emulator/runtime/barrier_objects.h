// Who waits for a phase of a barrier object to end.
#pragma once

#include "lanes.h"

// So many bytes of a copy have arrived at an object. Returns a FaultCode.
uint32_t complete_bytes(Context &context, uint32_t instruction, uint32_t address, uint32_t bytes);
// Who went on: nobody, some, or only such as ask whether a phase has ended and do not wait for it.
enum class Released { NONE, SOME, ASKING };
// All warps of the block have had a turn: let those go on whose phase has ended, or else all that
// wait for one. NONE: there are none, or they have waited for too long.
Released release_phases(Context &context);
// Say where somebody waits for a phase or for a cluster; false: nobody does.
bool blame_path(Context &context);
