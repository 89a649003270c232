// Widening: one byte read and one float written per thread.
// run: --size n=8388608 --input x=small_integers:n:int8 --output y=float32:n
// run: --size n=67108864 --input x=small_integers:n:int8 --output y=float32:n
// launch: bytes_to_floats<<<ceil_div(n, 256), 256>>>(y, x, n)

__global__ void bytes_to_floats(float* y, const signed char* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * (1.0f / 127.0f);
}
