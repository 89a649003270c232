// One byte stored to each sector, in order: nothing ever completes a sector.
// run: --size n=1048576 --output y=uint8:32*n
// run: --size n=4194304 --output y=uint8:32*n
// launch: flags<<<n / 256, 256>>>(y)

__global__ void flags(unsigned char* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[32 * i] = (unsigned char)(i % 251);
}
