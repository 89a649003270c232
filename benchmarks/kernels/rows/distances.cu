// Distances of points of 16 coordinates from one of them: a thread reads its row whole, once.
// run: --size n=262144 --input x=normal:n,16 --output y=float32:n
// run: --size n=4194304 --input x=normal:n,16 --output y=float32:n
// launch: distances<<<n / 256, 256>>>(y, x)

__global__ void distances(float* y, const float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 16; k++) {
        float apart = x[16 * i + k] - x[k];
        sum += apart * apart;
    }
    y[i] = sqrtf(sum);
}
