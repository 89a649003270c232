// Last part of a radix sort by a digit of 4 bits: keys go to where their digit begins, as many
// places on as there are equal digits before them. Each digit has n / 16 keys: they are the
// numbers from 0 on, with their bits mixed.
// run: --size n=1048576 --output y=uint32:n
// run: --size n=16777216 --output y=uint32:n
// launch: radix_scatter<<<n / 256, 256>>>(y, n)

#define DIGITS 16
#define WARPS 8

__global__ void radix_scatter(unsigned* y, unsigned n)
{
    __shared__ unsigned counts[WARPS][DIGITS];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned key = i * 2654435761u & (n - 1), digit = (key ^ i / DIGITS) % DIGITS;
    if (threadIdx.x < WARPS * DIGITS)
        counts[threadIdx.x / DIGITS][threadIdx.x % DIGITS] = 0;
    __syncthreads();
    const unsigned equal = __match_any_sync(0xffffffffu, digit);
    const unsigned before = __popc(equal & ((1u << lane) - 1));
    if (before == 0)
        counts[warp][digit] = __popc(equal);
    __syncthreads();
    unsigned place = digit * (n / DIGITS) + blockIdx.x * (blockDim.x / DIGITS) + before;
    for (unsigned k = 0; k < warp; k++)
        place += counts[k][digit];
    y[place] = key;
}
