// Barriers with a number and a count: half a block waits alone; one half arrives and the other one waits.
// out: y int32[256]
// launch: run<<<2, 128>>>(y)
__global__ void run(int* y)
{
    __shared__ int s[128];
    const int i = threadIdx.x;
    int* out = y + blockIdx.x * 128;
    s[i] = i;
    if (i < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[i] = s[63 - i];
        asm volatile("bar.arrive 2, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 128;" ::: "memory");
        out[i] = s[127 - i] + 1000;
    }
    __syncthreads();
    out[i] += s[i ^ 64];
}
