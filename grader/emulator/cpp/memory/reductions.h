// The element operations of reductions (PTX ISA, cp.reduce.async.bulk).
#pragma once

#include "warps/lanes.h"

// See ReductionForm and ElementType.
struct Reduction {
    uint32_t operation, type;
};

uint32_t element_bytes(uint32_t type);
// Whether the element type supports the operation.
bool is_known(Reduction reduction);
// Combines the elements at `memory` with the elements at `operand` in place.
void combine(Reduction reduction, uint8_t *memory, const uint8_t *operand, uint32_t bytes);
