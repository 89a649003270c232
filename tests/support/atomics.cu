// Atomics in the place of loads and stores, and as sums and histograms have them: what each launch counts, on both devices.
// launch: exchange_columns<<<dim3(2, 2), dim3(32, 8)>>>(y, x)
// launch: read_by_or<<<4, 128>>>(y, x)
// launch: add_rows<<<4, 128>>>(y, x)
// launch: add_columns<<<4, 128>>>(y, x)
// launch: add_to_one<<<4, 128>>>(y, x)
// launch: add_by_fours<<<4, 128>>>(y, x)
// launch: fetch_one<<<4, 128>>>(y, x)
// launch: add_doubles<<<4, 128>>>(y)
// launch: compare_and_swap<<<4, 128>>>(y)
// launch: every_third<<<4, 100>>>(y, x)
// launch: no_lane<<<4, 128>>>(y, x)
// launch: bins<<<4, 128>>>(y, x)
// launch: shared_column<<<4, 128>>>(y, x)
#define SIDE 64

__global__ void exchange_columns(float* y, const float* x)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        atomicExch(&y[col * SIDE + row + j], x[(row + j) * SIDE + col]);
}

__global__ void read_by_or(float* y, float* x)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    y[i] = __uint_as_float(atomicOr((unsigned int*)&x[i * 8], 0u));
}

__global__ void add_rows(float* y, const float* x)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    atomicAdd(&y[i + 1], x[i]);
}

__global__ void add_columns(float* y, const float* x)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    atomicAdd(&y[i * 8], x[i]);
}

__global__ void add_to_one(float* y, const float* x) { atomicAdd(&y[5], x[threadIdx.x]); }

__global__ void add_by_fours(float* y, const float* x) { atomicAdd(&y[threadIdx.x / 4], x[threadIdx.x]); }

__global__ void fetch_one(float* y, const float* x)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    y[i + 32] = atomicAdd(&y[0], x[i]);
}

__global__ void add_doubles(float* y) { atomicAdd((double*)y + blockIdx.x * 128 + threadIdx.x, 1.0); }

__global__ void compare_and_swap(float* y) { atomicCAS((unsigned int*)&y[blockIdx.x * 128 + threadIdx.x], 1u, 2u); }

__global__ void every_third(float* y, const float* x)
{
    if (threadIdx.x % 3 == 0) atomicExch(&y[threadIdx.x], x[threadIdx.x]);
}

__global__ void no_lane(float* y, const float* x)
{
    if (x[threadIdx.x] > 1e30f) atomicAdd(&y[threadIdx.x], 1.0f);
}

__global__ void bins(float* y, const float* x)
{
    __shared__ unsigned int count[64];
    int t = threadIdx.x;
    if (t < 64) count[t] = 0;
    __syncthreads();
    atomicAdd(&count[(int)(x[t] * 7.0f) & 63], 1u);
    atomicMax(&count[32 + t % 3], (unsigned int)t);
    __syncthreads();
    if (t < 64) y[blockIdx.x * 64 + t] = count[t];
}

__global__ void shared_column(float* y, const float* x)
{
    __shared__ float tile[32][32];
    int t = threadIdx.x;
    for (int j = t / 32; j < 32; j += 4)
        atomicExch(&tile[t % 32][j], x[j * 32 + t % 32]);
    __syncthreads();
    y[blockIdx.x * 128 + t] = tile[t / 32][t % 32];
}
