// Two warp groups of four warps multiply directly from shared memory (wgmma): it needs Hopper. A block computes
// 128 x 256 elements of C, a group 64 x 256. Asynchronous copies bring tiles two steps ahead.
//
// Layout. wgmma reads rows of 128 bytes whose chunks of 16 bytes are exchanged: chunk ^ (row % 8). A row of A has 64
// values of k; B lies in four parts of 64 columns, a row of a part for each k.

#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define BLOCK_M 128  // rows ...
#define BLOCK_N 256  // ... and columns of C that a block computes
#define GROUP_M 64   // rows of a warp group
#define STEP 64      // values of k at a time, and columns of a part of B
#define STAGES 4
#define THREADS 256
#define A_HALVES (BLOCK_M * STEP)
#define PART_HALVES (STEP * STEP)
#define STAGE_HALVES (A_HALVES + BLOCK_N / STEP * PART_HALVES)
#define STAGES_BYTES (STAGES * STAGE_HALVES * 2)

// launch: gemm_tensor_cores<<<dim3(ceil_div(N, BLOCK_N), ceil_div(M, BLOCK_M)), THREADS, STAGES_BYTES>>>(A, B, C, M, N, K)

// The descriptor of rows of 128 bytes; `apart`: bytes between parts of B.
__device__ uint64_t describe(const half* place, int apart)
{
    uint32_t address = (uint32_t)__cvta_generic_to_shared(place);
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(apart >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

// c = a * b for 64 x 16 and 16 x 256 halves, or c += a * b if ADDS is 1. It runs on while the warps do other work.
template <int ADDS>
__device__ void begin_product(float (&c)[BLOCK_N / 2], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                 "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
                 "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "
                 "%56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, "
                 "%74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "
                 "%92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, "
                 "%108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "
                 "%123, %124, %125, %126, %127}, %128, %129, %130, 1, 1, 0, 1;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]),
                   "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]),
                   "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]),
                   "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]),
                   "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]),
                   "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
                   "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]),
                   "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]),
                   "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63]),
                   "+f"(c[64]), "+f"(c[65]), "+f"(c[66]), "+f"(c[67]), "+f"(c[68]), "+f"(c[69]), "+f"(c[70]),
                   "+f"(c[71]), "+f"(c[72]), "+f"(c[73]), "+f"(c[74]), "+f"(c[75]), "+f"(c[76]), "+f"(c[77]),
                   "+f"(c[78]), "+f"(c[79]), "+f"(c[80]), "+f"(c[81]), "+f"(c[82]), "+f"(c[83]), "+f"(c[84]),
                   "+f"(c[85]), "+f"(c[86]), "+f"(c[87]), "+f"(c[88]), "+f"(c[89]), "+f"(c[90]), "+f"(c[91]),
                   "+f"(c[92]), "+f"(c[93]), "+f"(c[94]), "+f"(c[95]), "+f"(c[96]), "+f"(c[97]), "+f"(c[98]),
                   "+f"(c[99]), "+f"(c[100]), "+f"(c[101]), "+f"(c[102]), "+f"(c[103]), "+f"(c[104]), "+f"(c[105]),
                   "+f"(c[106]), "+f"(c[107]), "+f"(c[108]), "+f"(c[109]), "+f"(c[110]), "+f"(c[111]), "+f"(c[112]),
                   "+f"(c[113]), "+f"(c[114]), "+f"(c[115]), "+f"(c[116]), "+f"(c[117]), "+f"(c[118]), "+f"(c[119]),
                   "+f"(c[120]), "+f"(c[121]), "+f"(c[122]), "+f"(c[123]), "+f"(c[124]), "+f"(c[125]), "+f"(c[126]),
                   "+f"(c[127])
                 : "l"(a), "l"(b), "n"(ADDS)
                 : "memory");
}

// The products of a stage; `a`: the group's rows.
template <int FIRST_ADDS>
__device__ void begin_products(float (&c)[BLOCK_N / 2], const half* a, const half* b)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    begin_product<FIRST_ADDS>(c, describe(a, 16), describe(b, PART_HALVES * 2));
    #pragma unroll
    for (int k = 16; k < STEP; k += 16)
        begin_product<1>(c, describe(a + k, 16), describe(b + k * STEP, PART_HALVES * 2));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits for all products. The operands tell the compiler that c changes here.
__device__ void await(float (&c)[BLOCK_N / 2])
{
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]),
                   "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]),
                   "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]),
                   "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]),
                   "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]),
                   "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
                   "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]),
                   "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]),
                   "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63]),
                   "+f"(c[64]), "+f"(c[65]), "+f"(c[66]), "+f"(c[67]), "+f"(c[68]), "+f"(c[69]), "+f"(c[70]),
                   "+f"(c[71]), "+f"(c[72]), "+f"(c[73]), "+f"(c[74]), "+f"(c[75]), "+f"(c[76]), "+f"(c[77]),
                   "+f"(c[78]), "+f"(c[79]), "+f"(c[80]), "+f"(c[81]), "+f"(c[82]), "+f"(c[83]), "+f"(c[84]),
                   "+f"(c[85]), "+f"(c[86]), "+f"(c[87]), "+f"(c[88]), "+f"(c[89]), "+f"(c[90]), "+f"(c[91]),
                   "+f"(c[92]), "+f"(c[93]), "+f"(c[94]), "+f"(c[95]), "+f"(c[96]), "+f"(c[97]), "+f"(c[98]),
                   "+f"(c[99]), "+f"(c[100]), "+f"(c[101]), "+f"(c[102]), "+f"(c[103]), "+f"(c[104]), "+f"(c[105]),
                   "+f"(c[106]), "+f"(c[107]), "+f"(c[108]), "+f"(c[109]), "+f"(c[110]), "+f"(c[111]), "+f"(c[112]),
                   "+f"(c[113]), "+f"(c[114]), "+f"(c[115]), "+f"(c[116]), "+f"(c[117]), "+f"(c[118]), "+f"(c[119]),
                   "+f"(c[120]), "+f"(c[121]), "+f"(c[122]), "+f"(c[123]), "+f"(c[124]), "+f"(c[125]), "+f"(c[126]),
                   "+f"(c[127])
                 :
                 : "memory");
}

// Copies 8 neighbours of a row of `matrix` (height x width), 0 outside of it. If rows do not begin on 16-byte
// boundaries, the halves are read one by one.
__device__ void copy_eight(half* to, const half* matrix, int y, int x, int height, int width)
{
    int inside = y < height ? max(0, min(8, width - x)) : 0;
    const half* from = inside > 0 ? &matrix[(size_t)y * width + x] : matrix;
    if (width % 8 == 0) {
        __pipeline_memcpy_async(to, from, 16, 16 - 2 * inside);
        return;
    }
    __align__(16) half eight[8];
    #pragma unroll
    for (int i = 0; i < 8; i++) eight[i] = i < inside ? from[i] : __float2half(0.0f);
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<uint4*>(eight);
}

// Brings rows of 64 halves of a matrix, from (top, left) on, to a tile. INSIDE: all of them are in the matrix, and on
// 16-byte boundaries.
template <int ROWS, bool INSIDE>
__device__ void copy_rows(half* tile, const half* matrix, int top, int left, int height, int width)
{
    int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
    tile += row * STEP + (chunk ^ (row % 8)) * 8;
    #pragma unroll
    for (int y = 0; y < ROWS; y += THREADS / 8)
        if (INSIDE)
            __pipeline_memcpy_async(tile + y * STEP, &matrix[(size_t)(top + row + y) * width + left + chunk * 8], 16);
        else
            copy_eight(tile + y * STEP, matrix, top + row + y, left + chunk * 8, height, width);
}

// C from row `top` and column `left` on. INSIDE: the block's rows and columns exist, all steps are whole, and rows begin
// on 16-byte boundaries.
template <bool INSIDE>
__device__ void compute_tile(half* stages, const half* A, const half* B, float* C, int top, int left, int M, int N, int K)
{
    const int steps = (K + STEP - 1) / STEP;
    auto bring = [&](int step) {
        half* stage = stages + step % STAGES * STAGE_HALVES;
        copy_rows<BLOCK_M, INSIDE>(stage, A, top, step * STEP, M, K);
        #pragma unroll
        for (int part = 0; part < BLOCK_N / STEP; part++)
            copy_rows<STEP, INSIDE>(stage + A_HALVES + part * PART_HALVES, B, step * STEP, left + part * STEP, K, N);
    };
    // When all warps are here, their products of the stage before the last have ended: its place is free.
    auto await_stage = [&](int step) {
        __pipeline_wait_prior(STAGES - 3);
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        if (step + STAGES - 2 < steps) bring(step + STAGES - 2);
        __pipeline_commit();
        return stages + step % STAGES * STAGE_HALVES;
    };
    #pragma unroll
    for (int step = 0; step < STAGES - 2; step++) {
        if (step < steps) bring(step);
        __pipeline_commit();
    }

    const int own = threadIdx.x / 128 * GROUP_M * STEP;  // the group's rows of A
    float c[BLOCK_N / 2];
    const half* stage = await_stage(0);
    begin_products<0>(c, stage + own, stage + A_HALVES);
    for (int step = 1; step < steps; step++) {
        stage = await_stage(step);
        begin_products<1>(c, stage + own, stage + A_HALVES);
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    await(c);

    const int lane = threadIdx.x % 32, row = top + threadIdx.x / 32 * 16 + lane / 4;
    #pragma unroll
    for (int j = 0; j < BLOCK_N / 8; j++)
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            int y = row + i * 8, x = left + j * 8 + lane % 4 * 2;
            float* to = &C[(size_t)y * N + x];
            if (INSIDE || (y < M && x + 1 < N && N % 2 == 0)) {
                *reinterpret_cast<float2*>(to) = make_float2(c[j * 4 + i * 2], c[j * 4 + i * 2 + 1]);
            } else if (y < M) {
                if (x < N) to[0] = c[j * 4 + i * 2];
                if (x + 1 < N) to[1] = c[j * 4 + i * 2 + 1];
            }
        }
}

__global__ void __launch_bounds__(THREADS)
gemm_tensor_cores(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(1024) half stages[];
    const int top = blockIdx.y * BLOCK_M, left = blockIdx.x * BLOCK_N;
    const bool inside = top + BLOCK_M <= M && left + BLOCK_N <= N && K % STEP == 0 && N % 8 == 0;
    if (inside) compute_tile<true>(stages, A, B, C, top, left, M, N, K);
    else compute_tile<false>(stages, A, B, C, top, left, M, N, K);
}
