// A chain of multiply-adds per thread: a warp per scheduler, four, or as many as fit.
// run: --size blocks=132 --size threads=128 --input x=normal:2 --output y=float32:blocks*threads
// run: --size blocks=132 --size threads=512 --input x=normal:2 --output y=float32:blocks*threads
// run: --size blocks=264 --size threads=1024 --input x=normal:2 --output y=float32:blocks*threads
// launch: fma_chain<<<blocks, threads>>>(y, x)

__global__ void fma_chain(float* y, const float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i, a = x[0], b = x[1];
    for (int k = 0; k < 8192; k++) v = v * a + b;
    y[i] = v;
}
