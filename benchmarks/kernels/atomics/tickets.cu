// Keeps the positive numbers. Each takes the next place from one counter, whose old value is used;
// which one takes which place is left to the run.
// run: --size n=1048576 --input x=normal:n --output y=float32:n --output count=index:1:int32
// run: --size n=16777216 --input x=normal:n --output y=float32:n --output count=index:1:int32
// launch: tickets<<<ceil_div(n, 256), 256>>>(y, count, x, n)

__global__ void tickets(float* y, int* count, const float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f)
        y[atomicAdd(count, 1)] = x[i];
}
