#include "filter.h"

__device__ float window(int position, int length)
{
    return 1 - fabsf(2.0f * position - (length - 1)) / (length + 1);
}
