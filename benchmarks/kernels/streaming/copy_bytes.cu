// A copy of one byte per thread: a warp moves one sector each way.
// run: --size n=16777216 --input x=small_integers:n:int8 --output y=int8:n
// run: --size n=67108864 --input x=small_integers:n:int8 --output y=int8:n
// launch: copy_bytes<<<ceil_div(n, 256), 256>>>(y, x, n)

__global__ void copy_bytes(signed char* y, const signed char* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
