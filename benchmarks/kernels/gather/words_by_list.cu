// Words at places that an array lists, in random order: a word of 4 bytes costs a sector.
// run: --size n=1048576 --input list=permutation:n --input x=normal:n --output y=float32:n
// run: --size n=4194304 --input list=permutation:n --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input list=permutation:n --input x=normal:n --output y=float32:n
// launch: words_by_list<<<ceil_div(n, 256), 256>>>(y, x, list, n)

__global__ void words_by_list(float* y, const float* x, const int* list, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[list[i]];
}
