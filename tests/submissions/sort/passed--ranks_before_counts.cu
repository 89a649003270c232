// Warps find the ranks of their keys first, and publish the counts of the tile after it.
#define THREADS 256  // also the number of digits
#define EACH 20      // keys per thread
#define WARPS (THREADS / 32)
#define DIGITS 256
#define TILE (THREADS * EACH)
#define ALL 0xffffffffu

// Words of `state`: the starts of the digits of 4 passes, 4 counters of tiles, and an entry per pass, tile and digit.
#define TICKETS (4 * DIGITS)
#define ENTRIES (TICKETS + 4)

// The state of an entry, above its value: nothing yet (0), keys of the tile, keys of all tiles up to this one.
#define HAS_SUM (1u << 30)
#define HAS_PREFIX (2u << 30)
#define VALUE (HAS_SUM - 1)

// scratch: unsigned other[n]
// scratch: unsigned state[ENTRIES + 4 * DIGITS * ceil_div(n, TILE)]
// launch: int tiles = ceil_div(n, TILE);
// launch: cudaMemset(state, 0, (ENTRIES + 4 * DIGITS * tiles) * 4);
// launch: count_digits<<<min(tiles, 1056), THREADS>>>(state, in, n);
// launch: scan_digits<<<4, DIGITS>>>(state);
// launch: sort_by_digit<<<tiles, THREADS>>>(other, state, in, n, 0);
// launch: sort_by_digit<<<tiles, THREADS>>>(out, state, other, n, 1);
// launch: sort_by_digit<<<tiles, THREADS>>>(other, state, out, n, 2);
// launch: sort_by_digit<<<tiles, THREADS>>>(out, state, other, n, 3);

__device__ int digit_of(unsigned key, int pass)
{
    return key >> (8 * pass) & (DIGITS - 1);
}

// Counts the digits of all passes.
__global__ void __launch_bounds__(THREADS) count_digits(unsigned* counts, const unsigned* keys, int n)
{
    __shared__ unsigned own[4][DIGITS];
    for (int pass = 0; pass < 4; pass++) own[pass][threadIdx.x] = 0;
    __syncthreads();
    #pragma unroll 4
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        unsigned key = keys[i];
        #pragma unroll
        for (int pass = 0; pass < 4; pass++) atomicAdd(&own[pass][digit_of(key, pass)], 1);
    }
    __syncthreads();
    for (int pass = 0; pass < 4; pass++) atomicAdd(&counts[pass * DIGITS + threadIdx.x], own[pass][threadIdx.x]);
}

// The sum of the values of all threads before this one.
__device__ unsigned add_up_before(unsigned value)
{
    __shared__ unsigned sums[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned scanned = value;
    #pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        unsigned before = __shfl_up_sync(ALL, scanned, apart);
        if (lane >= apart) scanned += before;
    }
    if (lane == 31) sums[warp] = scanned;
    __syncthreads();
    #pragma unroll
    for (int before = 0; before < WARPS; before++)
        if (before < warp) scanned += sums[before];
    return scanned - value;
}

// A block per pass: counts become the places where the keys of each digit start.
__global__ void scan_digits(unsigned* counts)
{
    unsigned* own = counts + blockIdx.x * DIGITS;
    own[threadIdx.x] = add_up_before(own[threadIdx.x]);
}

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

// Returns the number of keys with this thread's digit in all tiles before, and publishes the prefix of this tile.
__device__ unsigned look_back(volatile unsigned* entries, int tile, unsigned count)
{
    unsigned sum = 0;
    for (int at = tile - 1; at >= 0; at--) {
        unsigned entry;
        do entry = entries[at * DIGITS];
        while (entry == 0);
        sum += entry & VALUE;
        if (entry >= HAS_PREFIX) break;
    }
    entries[tile * DIGITS] = HAS_PREFIX | (sum + count);
    return sum;
}

// Moves the keys of a tile to their places by the digit of this pass.
__global__ void __launch_bounds__(THREADS, 4)
    sort_by_digit(unsigned* to, unsigned* state, const unsigned* from, int n, int pass)
{
    __shared__ unsigned counts[WARPS][DIGITS], sorted[TILE], offsets[DIGITS];
    __shared__ int shared_tile;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) shared_tile = atomicAdd(&state[TICKETS + pass], 1);
    for (auto& own : counts) own[threadIdx.x] = 0;
    __syncthreads();
    const int tile = shared_tile, size = min(TILE, n - tile * TILE);

    // Keys behind the end are the largest, so they come last in the tile.
    unsigned keys[EACH];
    const int first = warp * 32 * EACH + lane;
    #pragma unroll
    for (int j = 0; j < EACH; j++) keys[j] = first + j * 32 < size ? from[tile * TILE + first + j * 32] : ALL;
    unsigned ranks[EACH];  // among the keys of the warp with the same digit
    #pragma unroll
    for (int j = 0; j < EACH; j++) {
        const int digit = digit_of(keys[j], pass);
        const unsigned peers = find_peers(digit), before = peers & ((1u << lane) - 1);
        ranks[j] = counts[warp][digit] + __popc(before);
        __syncwarp();
        if (before == 0) counts[warp][digit] += __popc(peers);
        __syncwarp();
    }
    __syncthreads();

    // A thread per digit: the counts become the places of the next keys in the sorted tile.
    unsigned count = 0;
    #pragma unroll
    for (auto& own : counts) count += own[threadIdx.x];
    volatile unsigned* entries = state + ENTRIES + pass * gridDim.x * DIGITS + threadIdx.x;
    entries[tile * DIGITS] = HAS_SUM | count;
    const unsigned start = add_up_before(count);
    unsigned place = start;
    #pragma unroll
    for (auto& own : counts) {
        const unsigned next = place + own[threadIdx.x];
        own[threadIdx.x] = place;
        place = next;
    }
    __syncthreads();

    #pragma unroll
    for (int j = 0; j < EACH; j++) sorted[counts[warp][digit_of(keys[j], pass)] + ranks[j]] = keys[j];
    offsets[threadIdx.x] = state[pass * DIGITS + threadIdx.x] + look_back(entries, tile, count) - start;
    __syncthreads();

    #pragma unroll 4
    for (int i = threadIdx.x; i < size; i += THREADS) {
        const unsigned key = sorted[i];
        to[offsets[digit_of(key, pass)] + i] = key;
    }
}
