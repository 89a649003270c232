// Blocks whose work is drawn: one to sixteen parts of 8 KB each.
// run: --size blocks=2048 --input x=normal:32768*64 --output y=float32:256*blocks
// run: --size blocks=16384 --input x=normal:32768*64 --output y=float32:256*blocks
// launch: random_blocks<<<blocks, 256>>>(y, x)

__global__ void random_blocks(float* y, const float* x)
{
    unsigned drawn = blockIdx.x * 2654435761u;
    int parts = 1 + (drawn >> 28), first = (drawn >> 8) % 63 * 32768;
    float sum = 0;
    for (int k = 0; k < parts * 2048; k += 256) sum += x[first + k + threadIdx.x];
    y[blockIdx.x * 256 + threadIdx.x] = sum;
}
