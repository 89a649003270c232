// A sum by one block: what one SM can fetch by itself, with 4 warps and with 32.
// run: --size n=1048576 --size threads=128 --input x=normal:n --output y=float32:threads
// run: --size n=4194304 --size threads=1024 --input x=normal:n --output y=float32:threads
// launch: one_block<<<1, threads>>>(y, x, n)

__global__ void one_block(float* y, const float* x, int n)
{
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += x[k];
    y[threadIdx.x] = sum;
}
