// Every sixteenth word is read, changed and written back: half of a DRAM access is not asked for.
// run: --size n=1048576 --output x=normal:16*n
// run: --size n=4194304 --output x=normal:16*n
// launch: strided_updates<<<ceil_div(n, 256), 256>>>(x, n)

__global__ void strided_updates(float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[16 * i] += 1.0f;
}
