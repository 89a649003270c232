// A grid too large: half of the blocks, or all but one in 16, find nothing to do, and end.
// run: --size n=8388608 --size blocks=65536 --input x=normal:n --output y=float32:n
// run: --size n=8388608 --size blocks=524288 --input x=normal:n --output y=float32:n
// launch: idle_blocks<<<blocks, 256>>>(y, x, n)

__global__ void idle_blocks(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.0f;
}
