// Stores only: one byte per thread, so that a warp's store fills one sector.
// run: --size n=16777216 --output y=uint8:n
// run: --size n=134217728 --output y=uint8:n
// launch: fill_bytes<<<ceil_div(n, 256), 256>>>(y, n)

__global__ void fill_bytes(unsigned char* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (unsigned char)(i >> 8);
}
