// What kernels call for accesses to global memory.
#include "memory/accesses.h"

DEFINE_WIDTHS(DEFINE_ACCESS, load_global, Space::GLOBAL, true, false)
DEFINE_WIDTHS(DEFINE_ACCESS, store_global, Space::GLOBAL, false, false)

// Accesses of 32 bytes to global memory exist since sm_100.
DEFINE_ACCESS(load_global, Space::GLOBAL, true, false, 32)
DEFINE_ACCESS(store_global, Space::GLOBAL, false, false, 32)

// The kernel's own code then performs the atomic operations lane by lane.
DEFINE_ACCESS(atomic_global, Space::GLOBAL, false, true, 4)
DEFINE_ACCESS(atomic_global, Space::GLOBAL, false, true, 8)
DEFINE_ACCESS(atomic_global, Space::GLOBAL, false, true, 16)
