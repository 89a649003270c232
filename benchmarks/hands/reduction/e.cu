// launch: unrolled<512><<<ceil_div(n, 1024), 512>>>(out, in, n)
template <unsigned int WIDE>
__global__ void unrolled(float *answer, const float *numbers, unsigned int n)
{
    __shared__ volatile float cells[WIDE];
    unsigned int rank = threadIdx.x;
    unsigned int i = blockIdx.x * (WIDE * 2) + rank;
    float x = 0;
    if (i < n) x = numbers[i];
    if (i + WIDE < n) x += numbers[i + WIDE];
    cells[rank] = x;
    __syncthreads();
    if (WIDE >= 512) { if (rank < 256) { cells[rank] = cells[rank] + cells[rank + 256]; } __syncthreads(); }
    if (WIDE >= 256) { if (rank < 128) { cells[rank] = cells[rank] + cells[rank + 128]; } __syncthreads(); }
    if (WIDE >= 128) { if (rank < 64) { cells[rank] = cells[rank] + cells[rank + 64]; } __syncthreads(); }
    if (rank < 32) {
        float y = cells[rank] + cells[rank + 32];
        for (int d = 16; d; d >>= 1) y += __shfl_down_sync(0xffffffff, y, d);
        if (!rank) atomicAdd(answer, y);
    }
}
template __global__ void unrolled<512>(float *, const float *, unsigned int);
