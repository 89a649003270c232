// Blocks of one warp that copy a line each: starting blocks is the work.
// run: --size blocks=100000 --input x=normal:32*blocks --output y=float32:32*blocks
// run: --size blocks=1000000 --input x=normal:32*blocks --output y=float32:32*blocks
// launch: tiny_blocks<<<blocks, 32>>>(y, x)

__global__ void tiny_blocks(float* y, const float* x)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = x[i] + 1.0f;
}
