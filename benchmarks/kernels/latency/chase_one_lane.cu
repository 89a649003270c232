// Lists that one lane of each warp follows: 8 warps per SM, or 64.
// run: --size n=16777216 --size warps=4 --input next=permutation:n --output y=int32:264*warps
// run: --size n=16777216 --size warps=32 --input next=permutation:n --output y=int32:264*warps
// launch: chase_one_lane<<<264, 32 * warps>>>(y, next, n / (264 * warps))

__global__ void chase_one_lane(int* y, const int* next, int apart)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 32 > 0) return;
    int at = i / 32 * apart;
    for (int k = 0; k < 100; k++) at = next[at];
    y[i / 32] = at;
}
