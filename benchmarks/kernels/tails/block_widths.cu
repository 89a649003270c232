// The same copy in blocks of 64, 192, 512 and 1,024 threads.
// run: --size n=25165824 --size threads=64 --input x=normal:n --output y=float32:n
// run: --size n=25165824 --size threads=192 --input x=normal:n --output y=float32:n
// run: --size n=25165824 --size threads=512 --input x=normal:n --output y=float32:n
// run: --size n=25165824 --size threads=1024 --input x=normal:n --output y=float32:n
// launch: block_widths<<<n / threads, threads>>>(y, x)

__global__ void block_widths(float* y, const float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + 1.0f;
}
