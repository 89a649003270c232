// Threads store all keys of the last tile, also those behind the end.
#define THREADS 256
#define EACH 16
#define WARPS (THREADS / 32)
#define TILE (THREADS * EACH)
#define DIGITS 256
#define ALL 0xffffffffu
// scratch: unsigned other[n]
// scratch: int sums[DIGITS * ceil_div(n, TILE)]
// launch: unsigned *from = in, *to = other, *next = out;
// launch: for (int bit = 0; bit < 32; bit += 8) {
// launch:     count_digits<<<ceil_div(n, TILE), THREADS>>>(sums, from, n, bit);
// launch:     scan_sums<<<1, 1024>>>(sums, DIGITS * ceil_div(n, TILE));
// launch:     split<<<ceil_div(n, TILE), THREADS>>>(to, from, sums, n, bit);
// launch:     from = to; std::swap(to, next);
// launch: }

// The lanes of the warp whose key has the same digit.
__device__ unsigned find_peers(int digit)
{
    unsigned peers = ALL;
    #pragma unroll
    for (int bit = 1; bit < DIGITS; bit *= 2) {
        unsigned ones = __ballot_sync(ALL, digit & bit);
        peers &= digit & bit ? ones : ~ones;
    }
    return peers;
}

// The sums of all digits 0 come first, then those of all digits 1, and so on.
__global__ void count_digits(int* sums, const unsigned* keys, int n, int bit)
{
    __shared__ int counts[DIGITS];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int j = 0; j < EACH; j++) {
        int i = blockIdx.x * TILE + j * THREADS + threadIdx.x;
        if (i < n) atomicAdd(&counts[keys[i] >> bit & (DIGITS - 1)], 1);
    }
    __syncthreads();
    sums[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

__global__ void scan_sums(int* sums, int count)
{
    __shared__ int warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, carry = 0;
    for (int first = 0; first < count; first += 1024) {
        int i = first + threadIdx.x, own = i < count ? sums[i] : 0, value = own;
        for (int apart = 1; apart < 32; apart *= 2) {
            int before = __shfl_up_sync(ALL, value, apart);
            if (lane >= apart) value += before;
        }
        if (lane == 31) warps[warp] = value;
        __syncthreads();
        int all = 0;
        for (int j = 0; j < 32; j++) {
            if (j == warp) value += all;
            all += warps[j];
        }
        __syncthreads();
        if (i < count) sums[i] = carry + value - own;
        carry += all;
    }
}

// Each warp has 512 consecutive keys, of which a lane has every 32nd.
__global__ void split(unsigned* to, const unsigned* from, const int* sums, int n, int bit)
{
    __shared__ int counts[WARPS][DIGITS], offsets[DIGITS], warps[WARPS];
    __shared__ unsigned sorted[TILE];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * TILE + warp * 32 * EACH + lane;
    for (int i = 0; i < WARPS; i++) counts[i][threadIdx.x] = 0;
    __syncthreads();

    unsigned keys[EACH];
    int ranks[EACH];
    #pragma unroll
    for (int j = 0; j < EACH; j++) keys[j] = first + j * 32 < n ? from[first + j * 32] : ALL;
    #pragma unroll
    for (int j = 0; j < EACH; j++) {
        int digit = keys[j] >> bit & (DIGITS - 1);
        unsigned peers = find_peers(digit), before = peers & ((1u << lane) - 1);
        ranks[j] = counts[warp][digit] + __popc(before);
        __syncwarp();
        if (before == 0) counts[warp][digit] += __popc(peers);
        __syncwarp();
    }
    __syncthreads();

    // A thread per digit: the number of keys of the block with a smaller digit, by a scan of the block.
    int count = 0;
    for (int i = 0; i < WARPS; i++) count += counts[i][threadIdx.x];
    int scanned = count;
    for (int apart = 1; apart < 32; apart *= 2) {
        int before = __shfl_up_sync(ALL, scanned, apart);
        if (lane >= apart) scanned += before;
    }
    if (lane == 31) warps[warp] = scanned;
    __syncthreads();
    for (int i = 0; i < warp; i++) scanned += warps[i];
    int place = scanned - count;
    offsets[threadIdx.x] = sums[threadIdx.x * gridDim.x + blockIdx.x] - place;
    for (int i = 0; i < WARPS; i++) {
        int own = counts[i][threadIdx.x];
        counts[i][threadIdx.x] = place;
        place += own;
    }
    __syncthreads();
    #pragma unroll
    for (int j = 0; j < EACH; j++) sorted[counts[warp][keys[j] >> bit & (DIGITS - 1)] + ranks[j]] = keys[j];
    __syncthreads();
    for (int j = threadIdx.x; j < TILE; j += THREADS) {
        unsigned key = sorted[j];
        to[offsets[key >> bit & (DIGITS - 1)] + j] = key;
    }
}
