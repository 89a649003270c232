// Minimum, maximum and absolute value of 32-bit integers.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// in: c uint32[1024] = random
// out: least uint32[1024]
// out: most uint32[1024]
// out: least_signed int32[1024]
// out: most_signed int32[1024]
// out: size int32[1024]
// out: three int32[1024]
// out: relu int32[1024]
// out: added int32[1024]
// launch: int_min_max<<<4, 256>>>(least, most, least_signed, most_signed, size, three, relu, added, a, b, c)
__global__ void int_min_max(
    unsigned int* least,
    unsigned int* most,
    int* least_signed,
    int* most_signed,
    int* size,
    int* three,
    int* relu,
    int* added,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    least[i] = min(a[i], b[i]);
    most[i] = max(a[i], b[i]);
    least_signed[i] = min((int)a[i], (int)b[i]);
    most_signed[i] = max((int)a[i], (int)b[i]);
    size[i] = abs((int)a[i]);
    three[i] = max((int)a[i], max((int)b[i], (int)c[i]));
    relu[i] = __vimax_s32_relu((int)a[i], (int)b[i]);
    added[i] = __viaddmin_s32((int)a[i], (int)b[i], (int)c[i]);
}
