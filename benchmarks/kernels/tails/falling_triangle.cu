// Arithmetic whose loops shrink with the block's number: the longest blocks begin first.
// run: --size blocks=1024 --input x=normal:2 --output y=float32:128*blocks
// run: --size blocks=4096 --input x=normal:2 --output y=float32:128*blocks
// launch: falling_triangle<<<blocks, 128>>>(y, x)

__global__ void falling_triangle(float* y, const float* x)
{
    float v = threadIdx.x, u = v + 0.5f, a = x[0], b = x[1];
    for (int k = blockIdx.x; k < gridDim.x; k++) {
        v = v * a + b;
        u = u * a + b;
    }
    y[blockIdx.x * 128 + threadIdx.x] = v + u;
}
