// The sums of the blocks come first, so that out is stored once; in is read twice.
#define THREADS 256
#define TILE (THREADS * 16)
// scratch: int sums[ceil_div(n, TILE)]
// launch: add_up_blocks<<<ceil_div(n, TILE), THREADS>>>(sums, in, n)
// launch: scan_sums<<<1, THREADS>>>(sums, ceil_div(n, TILE))
// launch: scan_blocks<<<ceil_div(n, TILE), THREADS>>>(out, sums, in, n)

__device__ int scan_warp(int value)
{
    for (int apart = 1; apart < 32; apart *= 2) {
        int before = __shfl_up_sync(0xffffffffu, value, apart);
        if (threadIdx.x % 32 >= apart) value += before;
    }
    return value;
}

// Scans one value per thread of the block; `total` gets the sum.
__device__ int scan_block(int value, int& total)
{
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = scan_warp(value);
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) sums[lane] = scan_warp(lane < THREADS / 32 ? sums[lane] : 0);
    __syncthreads();
    if (warp > 0) value += sums[warp - 1];
    total = sums[THREADS / 32 - 1];
    __syncthreads();
    return value;
}

__global__ void add_up_blocks(int* sums, const int* in, int n)
{
    int first = blockIdx.x * TILE + threadIdx.x * 4, sum = 0;
    __shared__ int all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    for (int i = first; i < blockIdx.x * TILE + TILE; i += THREADS * 4) {
        if (i + 4 <= n) {
            int4 quad = *reinterpret_cast<const int4*>(in + i);
            sum += quad.x + quad.y + quad.z + quad.w;
        } else {
            for (int j = i; j < n; j++) sum += in[j];
        }
    }
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffffu, sum, apart);
    if (threadIdx.x % 32 == 0) atomicAdd(&all, sum);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

__global__ void scan_sums(int* sums, int count)
{
    int carry = 0, total;
    for (int first = 0; first < count; first += THREADS) {
        int i = first + threadIdx.x;
        int value = scan_block(i < count ? sums[i] : 0, total) + carry;
        if (i < count) sums[i] = value;
        carry += total;
    }
}

__global__ void scan_blocks(int* out, const int* sums, const int* in, int n)
{
    int carry = blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0, total;
    for (int first = blockIdx.x * TILE + threadIdx.x * 4; first < blockIdx.x * TILE + TILE; first += THREADS * 4) {
        int own[4], sum = 0;
        if (first + 4 <= n) {
            int4 quad = *reinterpret_cast<const int4*>(in + first);
            own[0] = quad.x, own[1] = quad.y, own[2] = quad.z, own[3] = quad.w;
        } else {
            for (int j = 0; j < 4; j++) own[j] = first + j < n ? in[first + j] : 0;
        }
        for (int j = 0; j < 4; j++) own[j] = sum += own[j];
        int before = scan_block(sum, total) - sum + carry;
        carry += total;
        if (first + 4 <= n) {
            *reinterpret_cast<int4*>(out + first) =
                make_int4(own[0] + before, own[1] + before, own[2] + before, own[3] + before);
        } else {
            for (int j = 0; j < 4; j++) if (first + j < n) out[first + j] = own[j] + before;
        }
    }
}
