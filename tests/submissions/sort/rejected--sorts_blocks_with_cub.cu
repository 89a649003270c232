// CUB sorts the keys of a block: the exercise forbids its headers.
#include <cub/block/block_radix_sort.cuh>
#define THREADS 256
// launch: sort_tiles<<<ceil_div(n, THREADS), THREADS>>>(out, in, n)

__global__ void sort_tiles(unsigned* out, const unsigned* in, int n)
{
    using Sort = cub::BlockRadixSort<unsigned, THREADS, 1>;
    __shared__ Sort::TempStorage storage;
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned keys[1] = {i < n ? in[i] : 0xffffffffu};
    Sort(storage).Sort(keys);
    if (i < n) out[i] = keys[0];
}
