// One warp per SM, each lane with a list of its own: a step takes as long as its slowest lane.
// run: --size n=1048576 --size steps=200 --input next=permutation:n --output y=int32:132*32
// run: --size n=67108864 --size steps=200 --input next=permutation:n --output y=int32:132*32
// launch: chase_warps<<<132, 32>>>(y, next, n, steps)

__global__ void chase_warps(int* y, const int* next, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = i * (n / (132 * 32));
    for (int k = 0; k < steps; k++) at = next[at];
    y[i] = at;
}
