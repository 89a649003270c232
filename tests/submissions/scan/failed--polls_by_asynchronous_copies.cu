// A chain of tiles, as in failed--waits_for_the_neighbour, whose flags are read by asynchronous copies.
#define THREADS 256
#define EACH 4  // int4 per thread
#define WARPS (THREADS / 32)
#define ROW 128  // elements of the int4 of a warp
#define TILE (THREADS * EACH * 4)
#define ALL 0xffffffffu

// The state of a tile, above its value: nothing yet (0), the sum of its elements, the sum up to its last element.
#define HAS_SUM (1ull << 32)
#define HAS_PREFIX (2ull << 32)

// scratch: unsigned long long tiles[ceil_div(n, TILE) + 1]
// launch: cudaMemset(tiles, 0, (ceil_div(n, TILE) + 1) * 8)
// launch: scan<<<ceil_div(n, TILE), THREADS>>>(out, tiles, in, n)

__device__ int scan_warp(int value, int lane)
{
    #pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        int before = __shfl_up_sync(ALL, value, apart);
        if (lane >= apart) value += before;
    }
    return value;
}

__device__ int add_up_warp(int value)
{
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(ALL, value, apart);
    return value;
}

// Element `first` and the next three; 0 for those that do not exist.
__device__ int4 load(const int* in, int first, int n, bool whole)
{
    if (whole) return *reinterpret_cast<const int4*>(in + first);
    int4 quad = make_int4(0, 0, 0, 0);
    if (first < n) quad.x = in[first];
    if (first + 1 < n) quad.y = in[first + 1];
    if (first + 2 < n) quad.z = in[first + 2];
    if (first + 3 < n) quad.w = in[first + 3];
    return quad;
}

__device__ void store(int* out, int4 quad, int offset, int first, int n, bool whole)
{
    quad.x += offset, quad.y += offset, quad.z += offset, quad.w += offset;
    if (whole) {
        *reinterpret_cast<int4*>(out + first) = quad;
        return;
    }
    if (first < n) out[first] = quad.x;
    if (first + 1 < n) out[first + 1] = quad.y;
    if (first + 2 < n) out[first + 2] = quad.z;
    if (first + 3 < n) out[first + 3] = quad.w;
}

// The sum of all elements before the tile; a whole warp looks back, lane 0 at the nearest tile.
__device__ int look_back(volatile unsigned long long* tiles, int tile, int lane)
{
    int sum = 0;
    for (int at = tile - 1; at >= 0; at--) {
        unsigned long long entry;
        __shared__ unsigned long long seen[1];
        do {
            if (lane == 0) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;\ncp.async.wait_all;" :: "r"(static_cast<unsigned>(__cvta_generic_to_shared(seen))), "l"(const_cast<unsigned long long*>(tiles + at)) : "memory");
            __syncwarp(); entry = *reinterpret_cast<volatile unsigned long long*>(seen); __threadfence();
        } while (entry < HAS_PREFIX);
        sum += static_cast<int>(entry);
        if (entry >= HAS_PREFIX) break;
    }
    return sum;
}

// Publishes the sum of the tile, and returns the sum of all elements before it.
__device__ int exchange(volatile unsigned long long* tiles, int tile, int sum, int lane)
{
    int before = look_back(tiles, tile, lane);
    if (lane == 0) const_cast<unsigned long long*>(tiles)[tile] = HAS_PREFIX | static_cast<unsigned>(before + sum);
    return before;
}

// Scans the tile whose turn it is.
__global__ void __launch_bounds__(THREADS) scan(int* out, unsigned long long* tiles, const int* in, int n)
{
    __shared__ int shared_tile, offsets[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) shared_tile = static_cast<int>(atomicAdd(&tiles[gridDim.x], 1ull));
    __syncthreads();
    const int tile = shared_tile, first = tile * TILE + warp * EACH * ROW + lane * 4;
    const bool whole = (tile + 1) * TILE <= n;  // not for the last tile, where n is no multiple of TILE

    int4 quads[EACH];
    #pragma unroll
    for (int j = 0; j < EACH; j++) quads[j] = load(in, first + j * ROW, n, whole);

    int lanes[EACH], sum = 0;  // before each row: the sum of this warp's elements so far, of the lanes before this one
    #pragma unroll
    for (int j = 0; j < EACH; j++) {
        int4& quad = quads[j];
        quad.y += quad.x, quad.z += quad.y, quad.w += quad.z;
        int scanned = scan_warp(quad.w, lane);
        lanes[j] = sum + scanned - quad.w;
        sum += __shfl_sync(ALL, scanned, 31);
    }
    if (lane == 0) offsets[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        int own = lane < WARPS ? offsets[lane] : 0, scanned = scan_warp(own, lane);
        int before = exchange(tiles, tile, __shfl_sync(ALL, scanned, 31), lane);
        if (lane < WARPS) offsets[lane] = before + scanned - own;
    }
    __syncthreads();
    #pragma unroll
    for (int j = 0; j < EACH; j++) store(out, quads[j], offsets[warp] + lanes[j], first + j * ROW, n, whole);
}
