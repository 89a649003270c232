// What kernels call for products by four warps, except of 8-bit floats.
#include "tensor/warp_groups.h"

DEFINE_FLOATS(Half, Half, Single, places, block_bytes)
DEFINE_FLOATS(Half, Half, Half, places, block_bytes)
DEFINE_FLOATS(BFloat, BFloat, Single, places, block_bytes)
DEFINE_FLOATS(Single, Single, Single, places, block_bytes)
DEFINE_PRODUCT(bytes, multiply_matrices(reader, of, Bytes<of_numbers>{of.byte_form()}))
DEFINE_PRODUCT(AND, multiply_matrices(reader, of, Bytes<of_bits>{of.byte_form()}))
