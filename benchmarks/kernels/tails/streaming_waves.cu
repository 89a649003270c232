// Blocks of 1,024 threads, two per SM, that each scale 256 KB: one wave, and one block more.
// run: --size blocks=264 --input x=normal:65536*blocks --output y=float32:65536*blocks
// run: --size blocks=265 --input x=normal:65536*blocks --output y=float32:65536*blocks
// run: --size blocks=400 --input x=normal:65536*blocks --output y=float32:65536*blocks
// launch: streaming_waves<<<blocks, 1024>>>(y, x)

__global__ void streaming_waves(float* y, const float* x)
{
    int first = blockIdx.x * 65536 + threadIdx.x;
    for (int k = 0; k < 64; k++) y[first + 1024 * k] = 3.0f * x[first + 1024 * k];
}
