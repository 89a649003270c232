// A stride of a prime, round and round: every word is read once, each of a sector in another pass.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=16777216 --input x=normal:n --output y=float32:n
// run: --size n=67108864 --input x=normal:n --output y=float32:n
// launch: prime_stride<<<n / 256, 256>>>(y, x, n)

__global__ void prime_stride(float* y, const float* x, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[(i * 1009u) & (n - 1)];
}
