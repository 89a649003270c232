// What reductions of copies do with each element (PTX ISA, cp.reduce.async.bulk).
#pragma once

#include "warps/lanes.h"

// An operation on elements of a type: see ReductionForm and ElementType.
struct Reduction {
    uint32_t operation, type;
};

// Bytes of an element.
uint32_t element_bytes(uint32_t type);
// Whether the type has the operation.
bool is_known(Reduction reduction);
// Elements at `memory` become what they are combined with those at `operand`, so many bytes.
void combine(Reduction reduction, uint8_t *memory, const uint8_t *operand, uint32_t bytes);
