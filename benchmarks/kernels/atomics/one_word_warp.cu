// Adds all numbers. The lanes of a warp add theirs by shuffles, and lane 0 the sum to one float.
// run: --size n=4194304 --input x=normal:n --output sum=index:1
// run: --size n=33554432 --input x=normal:n --output sum=index:1
// launch: one_word_warp<<<ceil_div(n, 256), 256>>>(sum, x, n)

__global__ void one_word_warp(float* sum, const float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = i < n ? x[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, distance);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, mine);
}
