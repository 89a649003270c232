// What kernels call for accesses to shared memory.
#include "memory/accesses.h"

DEFINE_WIDTHS(DEFINE_ACCESS, load_shared, Space::SHARED, true, false)
DEFINE_WIDTHS(DEFINE_ACCESS, store_shared, Space::SHARED, false, false)

// The kernel's own code then performs the atomic operations lane by lane.
DEFINE_ACCESS(atomic_shared, Space::SHARED, false, true, 4)
DEFINE_ACCESS(atomic_shared, Space::SHARED, false, true, 8)
DEFINE_ACCESS(atomic_shared, Space::SHARED, false, true, 16)
