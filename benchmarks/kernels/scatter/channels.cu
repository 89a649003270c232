// Eight planes made one image whose pixels have eight channels: a sector is filled by eight stores.
// run: --size n=1048576 --input x=normal:8*n --output y=float32:8*n
// run: --size n=8388608 --input x=normal:8*n --output y=float32:8*n
// launch: channels<<<n / 256, 256>>>(y, x, n)

__global__ void channels(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int c = 0; c < 8; c++) y[8 * i + c] = x[c * n + i];
}
