// An array is changed in place again and again, by a thread that keeps its word only in memory.
// run: --size n=1048576 --size passes=16 --output x=normal:n
// run: --size n=4194304 --size passes=8 --output x=normal:n
// launch: l2_updates<<<ceil_div(n, 1024), 1024>>>(x, passes)

__global__ void l2_updates(volatile float* x, int passes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int pass = 0; pass < passes; pass++) x[i] = 0.5f * x[i] + 1.0f;
}
