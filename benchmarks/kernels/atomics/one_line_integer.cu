// All warps add to the same 32 neighbouring integers, which are one line: the sums of 32 columns.
// run: --size n=524288 --input x=small_integers:n:int32 --output sums=index:32:int32
// run: --size n=8388608 --input x=small_integers:n:int32 --output sums=index:32:int32
// launch: one_line_integer<<<ceil_div(n, 256), 256>>>(sums, x, n)

__global__ void one_line_integer(int* sums, const int* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&sums[i % 32], x[i]);
}
