// A histogram of 17 small integers: the lanes of a warp that have the same one find each other,
// and the first of them adds their number to the bin in global memory.
// run: --size n=4194304 --input x=small_integers:n:int32 --output bins=index:17:int32
// run: --size n=16777216 --input x=small_integers:n:int32 --output bins=index:17:int32
// launch: match_lanes<<<ceil_div(n, 256), 256>>>(bins, x, n)

__global__ void match_lanes(int* bins, const int* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = i < n ? x[i] : 9;
    const unsigned peers = __match_any_sync(0xffffffffu, value);
    const bool first = __ffs(peers) - 1 == threadIdx.x % 32;
    if (first && i < n)
        atomicAdd(&bins[value + 8], __popc(peers));
}
