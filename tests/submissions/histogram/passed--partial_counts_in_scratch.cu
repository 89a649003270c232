// No atomics in global memory: each block stores its bins to a row of its own, and a second kernel adds the rows.

#define BINS 256
#define THREADS 256
#define BLOCKS 1056

// scratch: int partial[BLOCKS][BINS]
// launch: histogram<<<BLOCKS, THREADS>>>(partial, in, n)
// launch: add_rows<<<BINS / 32, dim3(32, 32)>>>(counts, partial)

__global__ void histogram(int* partial, const int* in, int n)
{
    __shared__ int bins[BINS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const int4* quads = (const int4*)in;
    int first = blockIdx.x * THREADS + threadIdx.x, stride = BLOCKS * THREADS;
    for (int i = first; i < n / 4; i += 2 * stride) {
        int4 some = quads[i], more = i + stride < n / 4 ? quads[i + stride] : make_int4(-1, -1, -1, -1);
        atomicAdd(&bins[some.x], 1);
        atomicAdd(&bins[some.y], 1);
        atomicAdd(&bins[some.z], 1);
        atomicAdd(&bins[some.w], 1);
        if (more.x < 0) break;
        atomicAdd(&bins[more.x], 1);
        atomicAdd(&bins[more.y], 1);
        atomicAdd(&bins[more.z], 1);
        atomicAdd(&bins[more.w], 1);
    }
    if (first < n % 4) atomicAdd(&bins[in[n / 4 * 4 + first]], 1);
    __syncthreads();
    partial[blockIdx.x * BINS + threadIdx.x] = bins[threadIdx.x];
}

// A block of 32 x 32 threads adds 32 columns: each of its warps adds every 32nd row.
__global__ void add_rows(int* counts, const int* partial)
{
    __shared__ int sums[32][33];
    int bin = blockIdx.x * 32 + threadIdx.x, sum = 0;
    for (int row = threadIdx.y; row < BLOCKS; row += 32) sum += partial[row * BINS + bin];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = sums[threadIdx.x][threadIdx.y];
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (threadIdx.x == 0) counts[blockIdx.x * 32 + threadIdx.y] = sum;
}
