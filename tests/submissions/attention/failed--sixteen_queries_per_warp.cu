// Tensor cores without conflicts; a fragment of keys or values serves 16 queries: rung 4 of the ladder.
// expect without a model: passed, only a clock tells (14.4 % of the peak, 17 % are asked)

#include <cfloat>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define D 64
#define KEYS 64              // keys of a tile
#define TILES 1              // tiles of 16 queries of a warp
#define WARPS 4
#define ROWS (16 * TILES * WARPS)
#define THREADS (32 * WARPS)
#define CHUNKS (D / 8)       // chunks of 16 bytes of a row
#define TILE_HALVES (KEYS * D)
#define SCALE (0.125f * 1.44269504f)  // 1 / sqrt(D), and log2(e): powers of 2 replace powers of e

// launch: attention<<<dim3(ceil_div(n, ROWS), heads), THREADS>>>(out, Q, K, V, n)

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

// Starts the copy of a tile of K or V. Rows behind the end become copies of the last row: their weights are 0.
__device__ void copy_tile(half* tile, const half* from, int first, int n)
{
    #pragma unroll
    for (int i = threadIdx.x; i < KEYS * CHUNKS; i += THREADS) {
        int row = i / CHUNKS, chunk = i % CHUNKS;
        __pipeline_memcpy_async(&tile[place(row, chunk)], from + (size_t)min(first + row, n - 1) * D + chunk * 8, 16);
    }
}

// Of 16 queries. The lane's rows are row lane / 4 and the row 8 further down.
struct State {
    float outputs[D / 8][4];
    float highest[2], sum[2];
};

// scores = queries * keys; keys behind the end get the lowest score.
__device__ void multiply_keys(float (&scores)[TILES][KEYS / 8][4], const uint32_t (&queries)[TILES][D / 16][4],
                              const half* keys, int count)
{
    int lane = threadIdx.x % 32;
    #pragma unroll
    for (int j = 0; j < KEYS / 8; j++)
        #pragma unroll
        for (int k = 0; k < D / 16; k += 2) {
            uint32_t b[4];
            load_matrices(b, &keys[place(j * 8 + lane % 8, k * 2 + lane / 8)]);
            #pragma unroll
            for (int m = 0; m < TILES; m++) {
                multiply(scores[m][j], queries[m][k], b[0], b[1]);
                multiply(scores[m][j], queries[m][k + 1], b[2], b[3]);
            }
        }
    if (count >= KEYS) return;
    #pragma unroll
    for (int m = 0; m < TILES; m++)
        #pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
            #pragma unroll
            for (int i = 0; i < 4; i++)
                if (j * 8 + lane % 4 * 2 + i % 2 >= count) scores[m][j][i] = -FLT_MAX;
}

// Scores become weights; a new maximum corrects the sum and the outputs. A row's scores are in four lanes.
__device__ void weigh(State& state, float (&scores)[KEYS / 8][4])
{
    #pragma unroll
    for (int r = 0; r < 2; r++) {
        float highest = state.highest[r];
        #pragma unroll
        for (int j = 0; j < KEYS / 8; j++) highest = fmaxf(highest, fmaxf(scores[j][2 * r], scores[j][2 * r + 1]));
        highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 1));
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
}

// outputs += weights * values.
__device__ void multiply_values(State (&states)[TILES], const float (&weights)[TILES][KEYS / 8][4], const half* values)
{
    int lane = threadIdx.x % 32;
    #pragma unroll
    for (int k = 0; k < KEYS / 16; k++) {
        uint32_t a[TILES][4];
        #pragma unroll
        for (int m = 0; m < TILES; m++)
            #pragma unroll
            for (int i = 0; i < 4; i++)
                a[m][i] = pack(weights[m][2 * k + i / 2][i % 2 * 2], weights[m][2 * k + i / 2][i % 2 * 2 + 1]);
        #pragma unroll
        for (int j = 0; j < D / 8; j += 2) {
            uint32_t b[4];
            load_transposed(b, &values[place(k * 16 + lane % 16, j + lane / 16)]);
            #pragma unroll
            for (int m = 0; m < TILES; m++) {
                multiply(states[m].outputs[j], a[m], b[0], b[1]);
                multiply(states[m].outputs[j + 1], a[m], b[2], b[3]);
            }
        }
    }
}

// Stores a warp's queries. They pass through its `rows` of shared memory: then a lane stores 16 bytes, 8 lanes a row.
__device__ void store(half* out, const State (&states)[TILES], half* rows, int first, int n)
{
    int lane = threadIdx.x % 32;
    #pragma unroll
    for (int m = 0; m < TILES; m++)
        #pragma unroll
        for (int r = 0; r < 2; r++) {
            float sum = states[m].sum[r];
            sum += __shfl_xor_sync(0xffffffffu, sum, 1);
            sum += __shfl_xor_sync(0xffffffffu, sum, 2);
            #pragma unroll
            for (int j = 0; j < D / 8; j++)
                *reinterpret_cast<uint32_t*>(&rows[place(m * 16 + r * 8 + lane / 4, j) + lane % 4 * 2]) =
                    pack(states[m].outputs[j][2 * r] / sum, states[m].outputs[j][2 * r + 1] / sum);
        }
    __syncwarp();
    #pragma unroll
    for (int i = lane; i < 16 * TILES * CHUNKS; i += 32) {
        int row = i / CHUNKS, chunk = i % CHUNKS;
        if (first + row < n)
            *reinterpret_cast<uint4*>(&out[(size_t)(first + row) * D + chunk * 8]) =
                *reinterpret_cast<const uint4*>(&rows[place(row, chunk)]);
    }
}

__global__ void __launch_bounds__(THREADS) attention(half* out, const half* Q, const half* K, const half* V, int n)
{
    __shared__ __align__(128) half tiles[4 * TILE_HALVES];
    half *keys = tiles, *values = tiles + 2 * TILE_HALVES;
    size_t head = (size_t)blockIdx.y * n * D;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int row = blockIdx.x * ROWS + warp * 16 * TILES;  // the warp's first
    out += head, Q += head, K += head, V += head;

    copy_tile(keys, K, 0, n);
    copy_tile(values, V, 0, n);
    __pipeline_commit();
    uint32_t queries[TILES][D / 16][4];
    State states[TILES] = {};
    #pragma unroll
    for (int m = 0; m < TILES; m++) {
        states[m].highest[0] = states[m].highest[1] = -FLT_MAX;
        #pragma unroll
        for (int k = 0; k < D / 16; k++)
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                int y = row + m * 16 + i % 2 * 8 + lane / 4, x = k * 16 + i / 2 * 8 + lane % 4 * 2;
                queries[m][k][i] = y < n ? *reinterpret_cast<const uint32_t*>(&Q[(size_t)y * D + x]) : 0;
            }
    }
    for (int first = 0, stage = 0; first < n; first += KEYS, stage ^= 1) {
        __pipeline_wait_prior(0);
        __syncthreads();  // the tile is there, and all warps have read the tile before it
        if (first + KEYS < n) {
            copy_tile(keys + (stage ^ 1) * TILE_HALVES, K, first + KEYS, n);
            copy_tile(values + (stage ^ 1) * TILE_HALVES, V, first + KEYS, n);
        }
        __pipeline_commit();
        float scores[TILES][KEYS / 8][4] = {};
        multiply_keys(scores, queries, keys + stage * TILE_HALVES, n - first);
        #pragma unroll
        for (int m = 0; m < TILES; m++) weigh(states[m], scores[m]);
        multiply_values(states, scores, values + stage * TILE_HALVES);
    }
    __syncthreads();  // all tiles have been read
    store(out, states, tiles + warp * 16 * TILES * D, row, n);
}
