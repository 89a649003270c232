// Eight passes of 4 bits: a warp finds equal digits by votes. The keys of a warp go to 16 places.
#define THREADS 256
#define WARPS (THREADS / 32)
#define DIGITS 16
#define ALL 0xffffffffu
// scratch: unsigned other[n]
// scratch: int sums[DIGITS * ceil_div(n, THREADS)]
// launch: unsigned *from = in, *to = other, *next = out;
// launch: for (int bit = 0; bit < 32; bit += 4) {
// launch:     count_digits<<<ceil_div(n, THREADS), THREADS>>>(sums, from, n, bit);
// launch:     scan_sums<<<1, 1024>>>(sums, DIGITS * ceil_div(n, THREADS));
// launch:     split<<<ceil_div(n, THREADS), THREADS>>>(to, from, sums, n, bit);
// launch:     from = to; std::swap(to, next);
// launch: }

// The lanes of the warp that exist and whose key has the same digit.
__device__ unsigned find_peers(int digit, bool exists)
{
    unsigned peers = __ballot_sync(ALL, exists);
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
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x < DIGITS) counts[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&counts[keys[i] >> bit & (DIGITS - 1)], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS) sums[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
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

__global__ void split(unsigned* to, const unsigned* from, const int* sums, int n, int bit)
{
    __shared__ int counts[WARPS][DIGITS];
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane < DIGITS) counts[warp][lane] = 0;
    __syncwarp();
    unsigned key = i < n ? from[i] : 0;
    int digit = key >> bit & (DIGITS - 1);
    unsigned peers = find_peers(digit, i < n), before = peers & ((1u << lane) - 1);
    if (i < n && before == 0) counts[warp][digit] = __popc(peers);
    __syncthreads();
    if (threadIdx.x < DIGITS) {
        int place = sums[threadIdx.x * gridDim.x + blockIdx.x];
        for (int j = 0; j < WARPS; j++) {
            int own = counts[j][threadIdx.x];
            counts[j][threadIdx.x] = place;
            place += own;
        }
    }
    __syncthreads();
    if (i < n) to[counts[warp][digit] + __popc(before)] = key;
}
