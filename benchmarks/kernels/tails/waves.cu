// One block per SM, since each takes over half of the shared memory: whole waves, and one more
// block than that.
// run: --size blocks=132 --input x=normal:2 --output y=float32:256*blocks
// run: --size blocks=133 --input x=normal:2 --output y=float32:256*blocks
// run: --size blocks=264 --input x=normal:2 --output y=float32:256*blocks
// run: --size blocks=265 --input x=normal:2 --output y=float32:256*blocks
// launch: waves<<<blocks, 256, 120000>>>(y, x)

__global__ void waves(float* y, const float* x)
{
    extern __shared__ float kept[];
    float v[8], a = x[0], b = x[1];
    for (int k = 0; k < 8; k++) v[k] = threadIdx.x + 256 * k;
    for (int round = 0; round < 2048; round++)
        for (int k = 0; k < 8; k++) v[k] = v[k] * a + b;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += v[k];
    kept[threadIdx.x] = sum;
    __syncthreads();
    y[blockIdx.x * 256 + threadIdx.x] = kept[255 - threadIdx.x];
}
