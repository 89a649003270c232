// What kernels call for products of 8-bit floats by four warps.
#include "tensor/warp_groups.h"

DEFINE_SMALL(Exponents4, Exponents4)
DEFINE_SMALL(Exponents4, Exponents5)
DEFINE_SMALL(Exponents5, Exponents4)
DEFINE_SMALL(Exponents5, Exponents5)
