// One block, the first or the last, does ten times the work of the others.
// run: --size blocks=1056 --size slow=0 --input x=normal:2 --output y=float32:256*blocks
// run: --size blocks=1056 --size slow=1055 --input x=normal:2 --output y=float32:256*blocks
// run: --size blocks=8448 --size slow=8447 --input x=normal:2 --output y=float32:256*blocks
// launch: one_slow_block<<<blocks, 256>>>(y, x, slow)

__global__ void one_slow_block(float* y, const float* x, int slow)
{
    float v = threadIdx.x, a = x[0], b = x[1];
    int rounds = blockIdx.x == slow ? 10240 : 1024;
    for (int k = 0; k < rounds; k++) v = v * a + b;
    y[blockIdx.x * 256 + threadIdx.x] = v;
}
