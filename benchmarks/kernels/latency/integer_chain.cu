// A chain of integer multiply-adds per thread, a linear congruential generator: 1 or 4 warps a
// scheduler, or as many as fit.
// run: --size blocks=132 --size threads=128 --size a=1664525 --output y=uint32:blocks*threads
// run: --size blocks=132 --size threads=512 --size a=1664525 --output y=uint32:blocks*threads
// run: --size blocks=264 --size threads=1024 --size a=1664525 --output y=uint32:blocks*threads
// launch: integer_chain<<<blocks, threads>>>(y, a)

__global__ void integer_chain(unsigned* y, unsigned a)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
    for (int k = 0; k < 8192; k++) v = v * a + i;
    y[i] = v;
}
