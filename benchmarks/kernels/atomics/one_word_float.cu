// Every thread adds its number to the same float, by an atomic of its own.
// run: --size n=262144 --input x=normal:n --output sum=index:1
// run: --size n=4194304 --input x=normal:n --output sum=index:1
// launch: one_word_float<<<ceil_div(n, 256), 256>>>(sum, x, n)

__global__ void one_word_float(float* sum, const float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i]);
}
