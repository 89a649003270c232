// Four warps multiply together, directly from shared memory (wgmma): it needs Hopper. A stage of 128 keys and values
// is copied while two others are used or wait, so that the warp groups of a block wait for each other half as often.

#include <cfloat>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define D 64
#define KEYS 64              // keys of a tile
#define STAGE_KEYS 128       // keys that are copied together: two tiles
#define STAGES 3
#define WARPS 8
#define ROWS (16 * WARPS)    // four warps have 64 queries
#define THREADS (32 * WARPS)
#define CHUNKS (D / 8)       // chunks of 16 bytes of a row
#define STEP (THREADS / CHUNKS)
#define STAGE_HALVES (2 * STAGE_KEYS * D)
#define STAGES_BYTES (STAGES * STAGE_HALVES * 2)
#define SCALE (0.125f * 1.44269504f)  // 1 / sqrt(D), and log2(e): powers of 2 replace powers of e

// launch: attention<<<dim3(ceil_div(n, ROWS), heads), THREADS, STAGES_BYTES>>>(out, Q, K, V, n)

// The place of a chunk in a tile, in halves.
__device__ int place(int row, int chunk)
{
    return row * D + ((chunk ^ (row % 8)) * 8);
}

// The descriptor of rows of 128 bytes whose chunks are exchanged.
__device__ uint64_t describe(const half* place)
{
    uint32_t address = (uint32_t)__cvta_generic_to_shared(place);
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

// Four products of 64 x 16 and 16 x 64 halves, by four warps together; they are added to c if `adds` is 1, and replace
// it if it is 0. The products run on while the warps do other work.
#define SUMS "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
             "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define PRODUCT(a, tile, adds, transposed) \
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " SUMS ", {" a "}, " tile ", " adds ", 1, 1, " transposed ";"
#define PRODUCTS(adds, transposed) \
    "wgmma.fence.sync.aligned;" PRODUCT("%32, %33, %34, %35", "%48", adds, transposed) \
    PRODUCT("%36, %37, %38, %39", "%49", "1", transposed) PRODUCT("%40, %41, %42, %43", "%50", "1", transposed) \
    PRODUCT("%44, %45, %46, %47", "%51", "1", transposed) "wgmma.commit_group.sync.aligned;"

// c = a * tile: rows of the tile are columns of the right operand.
__device__ void begin_scores(float (&c)[8][4], const uint32_t (&a)[4][4], const half* tile)
{
    asm volatile(PRODUCTS("0", "0")
                 : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]),
                   "+f"(c[1][2]), "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]),
                   "+f"(c[3][0]), "+f"(c[3][1]), "+f"(c[3][2]), "+f"(c[3][3]), "+f"(c[4][0]), "+f"(c[4][1]),
                   "+f"(c[4][2]), "+f"(c[4][3]), "+f"(c[5][0]), "+f"(c[5][1]), "+f"(c[5][2]), "+f"(c[5][3]),
                   "+f"(c[6][0]), "+f"(c[6][1]), "+f"(c[6][2]), "+f"(c[6][3]), "+f"(c[7][0]), "+f"(c[7][1]),
                   "+f"(c[7][2]), "+f"(c[7][3])
                 : "r"(a[0][0]), "r"(a[0][1]), "r"(a[0][2]), "r"(a[0][3]), "r"(a[1][0]), "r"(a[1][1]), "r"(a[1][2]),
                   "r"(a[1][3]), "r"(a[2][0]), "r"(a[2][1]), "r"(a[2][2]), "r"(a[2][3]), "r"(a[3][0]), "r"(a[3][1]),
                   "r"(a[3][2]), "r"(a[3][3]),
                   "l"(describe(tile + 0 * 16)), "l"(describe(tile + 1 * 16)), "l"(describe(tile + 2 * 16)),
                   "l"(describe(tile + 3 * 16))
                 : "memory");
}

// c += a * tile: rows of the tile are rows of the right operand.
__device__ void begin_outputs(float (&c)[8][4], const uint32_t (&a)[4][4], const half* tile)
{
    asm volatile(PRODUCTS("1", "1")
                 : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]),
                   "+f"(c[1][2]), "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]),
                   "+f"(c[3][0]), "+f"(c[3][1]), "+f"(c[3][2]), "+f"(c[3][3]), "+f"(c[4][0]), "+f"(c[4][1]),
                   "+f"(c[4][2]), "+f"(c[4][3]), "+f"(c[5][0]), "+f"(c[5][1]), "+f"(c[5][2]), "+f"(c[5][3]),
                   "+f"(c[6][0]), "+f"(c[6][1]), "+f"(c[6][2]), "+f"(c[6][3]), "+f"(c[7][0]), "+f"(c[7][1]),
                   "+f"(c[7][2]), "+f"(c[7][3])
                 : "r"(a[0][0]), "r"(a[0][1]), "r"(a[0][2]), "r"(a[0][3]), "r"(a[1][0]), "r"(a[1][1]), "r"(a[1][2]),
                   "r"(a[1][3]), "r"(a[2][0]), "r"(a[2][1]), "r"(a[2][2]), "r"(a[2][3]), "r"(a[3][0]), "r"(a[3][1]),
                   "r"(a[3][2]), "r"(a[3][3]),
                   "l"(describe(tile + 0 * 16 * D)), "l"(describe(tile + 1 * 16 * D)),
                   "l"(describe(tile + 2 * 16 * D)), "l"(describe(tile + 3 * 16 * D))
                 : "memory");
}

// Waits for all products. The operands tell the compiler that c changes here.
__device__ void await(float (&c)[8][4])
{
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]),
                   "+f"(c[1][2]), "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]),
                   "+f"(c[3][0]), "+f"(c[3][1]), "+f"(c[3][2]), "+f"(c[3][3]), "+f"(c[4][0]), "+f"(c[4][1]),
                   "+f"(c[4][2]), "+f"(c[4][3]), "+f"(c[5][0]), "+f"(c[5][1]), "+f"(c[5][2]), "+f"(c[5][3]),
                   "+f"(c[6][0]), "+f"(c[6][1]), "+f"(c[6][2]), "+f"(c[6][3]), "+f"(c[7][0]), "+f"(c[7][1]),
                   "+f"(c[7][2]), "+f"(c[7][3])
                 :
                 : "memory");
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

// Starts the copy of a stage: keys, and behind them values. The chunks of a thread are STEP rows apart. In a stage without
// an end these are constant distances; otherwise rows behind the end become copies of the last row: their weights are 0.
__device__ void copy_stage(half* stage, const half* K, const half* V, int first, int n)
{
    int row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
    half* to = stage + place(row, chunk);
    if (first + STAGE_KEYS <= n) {
        K += (size_t)(first + row) * D + chunk * 8, V += (size_t)(first + row) * D + chunk * 8;
        #pragma unroll
        for (int i = 0; i < STAGE_KEYS; i += STEP) {
            __pipeline_memcpy_async(to + i * D, K + i * D, 16);
            __pipeline_memcpy_async(to + (STAGE_KEYS + i) * D, V + i * D, 16);
        }
        return;
    }
    #pragma unroll
    for (int i = 0; i < STAGE_KEYS; i += STEP) {
        size_t from = (size_t)min(first + row + i, n - 1) * D + chunk * 8;
        __pipeline_memcpy_async(to + i * D, K + from, 16);
        __pipeline_memcpy_async(to + (STAGE_KEYS + i) * D, V + from, 16);
    }
}

// Of a warp's 16 queries. The lane's rows are row lane / 4 and the row 8 further down.
struct State {
    float outputs[D / 8][4];
    float highest[2], sum[2];
};

// Keys behind the end get the lowest score.
__device__ void hide_scores(float (&scores)[KEYS / 8][4], int count)
{
    if (count >= KEYS) return;
    #pragma unroll
    for (int j = 0; j < KEYS / 8; j++)
        #pragma unroll
        for (int i = 0; i < 4; i++)
            if (j * 8 + threadIdx.x % 4 * 2 + i % 2 >= count) scores[j][i] = -FLT_MAX;
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

// Stores a warp's queries. They pass through its `rows` of shared memory: then a lane stores 16 bytes, 8 lanes a row.
__device__ void store(half* out, const State& state, half* rows, int first, int n)
{
    int lane = threadIdx.x % 32;
    #pragma unroll
    for (int r = 0; r < 2; r++) {
        float sum = state.sum[r];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        float part = 1.0f / sum;
        #pragma unroll
        for (int j = 0; j < D / 8; j++)
            *reinterpret_cast<uint32_t*>(&rows[place(r * 8 + lane / 4, j) + lane % 4 * 2]) =
                pack(state.outputs[j][2 * r] * part, state.outputs[j][2 * r + 1] * part);
    }
    __syncwarp();
    #pragma unroll
    for (int i = lane; i < 16 * CHUNKS; i += 32) {
        int row = i / CHUNKS, chunk = i % CHUNKS;
        if (first + row < n)
            *reinterpret_cast<uint4*>(&out[(size_t)(first + row) * D + chunk * 8]) =
                *reinterpret_cast<const uint4*>(&rows[place(row, chunk)]);
    }
}

__global__ void __launch_bounds__(THREADS, 2) attention(half* out, const half* Q, const half* K, const half* V, int n)
{
    extern __shared__ __align__(1024) half stages[];
    size_t head = (size_t)blockIdx.y * n * D;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = blockIdx.x * ROWS + warp * 16;  // the warp's first
    out += head, Q += head, K += head, V += head;

    #pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s * STAGE_KEYS < n) copy_stage(stages + s * STAGE_HALVES, K, V, s * STAGE_KEYS, n);
        __pipeline_commit();
    }
    uint32_t queries[D / 16][4];
    #pragma unroll
    for (int k = 0; k < D / 16; k++)
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            int y = row + i % 2 * 8 + lane / 4, x = k * 16 + i / 2 * 8 + lane % 4 * 2;
            queries[k][i] = y < n ? *reinterpret_cast<const uint32_t*>(&Q[(size_t)y * D + x]) : 0;
        }
    State state = {};
    state.highest[0] = state.highest[1] = -FLT_MAX;
    for (int first = 0; first < n; first += KEYS) {
        int stage = first / STAGE_KEYS;
        const half* keys = stages + stage % STAGES * STAGE_HALVES + first % STAGE_KEYS * D;
        if (first % STAGE_KEYS == 0) {
            await(state.outputs);
            __pipeline_wait_prior(STAGES - 2);
            asm volatile("fence.proxy.async;" ::: "memory");
            __syncthreads();  // the stage is there, and all warps have read the stage before it
            int later = stage + STAGES - 1;
            if (later * STAGE_KEYS < n)
                copy_stage(stages + later % STAGES * STAGE_HALVES, K, V, later * STAGE_KEYS, n);
            __pipeline_commit();
        }
        float scores[KEYS / 8][4];
        begin_scores(scores, queries, keys);
        await(scores);  // also for the outputs so far
        hide_scores(scores, n - first);
        weigh(state, scores);
        uint32_t weights[KEYS / 16][4];
        #pragma unroll
        for (int k = 0; k < KEYS / 16; k++)
            #pragma unroll
            for (int i = 0; i < 4; i++)
                weights[k][i] = pack(scores[2 * k + i / 2][i % 2 * 2], scores[2 * k + i / 2][i % 2 * 2 + 1]);
        begin_outputs(state.outputs, weights, keys + STAGE_KEYS * D);
    }
    await(state.outputs);
    __syncthreads();  // all stages have been read
    store(out, state, stages + warp * 16 * D, row, n);
}
