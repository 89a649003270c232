// Counts the positive numbers. Every thread that has one adds 1 to the same word; the compiler
// makes one atomic per warp of it.
// run: --size n=1048576 --input x=normal:n --output count=index:1:int32
// run: --size n=16777216 --input x=normal:n --output count=index:1:int32
// launch: one_word_count<<<ceil_div(n, 256), 256>>>(count, x, n)

__global__ void one_word_count(int* count, const float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f)
        atomicAdd(count, 1);
}
