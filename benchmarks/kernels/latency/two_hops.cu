// y = a[b[c]]: a coalesced load, and two that each wait for the one before.
// run: --size n=2097152 --input a=normal:n --input b=permutation:n --output y=float32:n
// run: --size n=16777216 --input a=normal:n --input b=permutation:n --output y=float32:n
// launch: two_hops<<<n / 256, 256>>>(y, a, b)

__global__ void two_hops(float* y, const float* a, const int* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a[b[b[i]]];
}
