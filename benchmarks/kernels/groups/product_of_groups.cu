// Two warp groups per block: C = A B by wgmma, tiles of 128 x 128; asynchronous copies bring tiles of A and B, whose chunks of 16
// bytes change places within 128 bytes.
// run: --size M=2048 --size N=2048 --size K=1024 --input A=normal:M,K:float16 --input B=normal:K,N:float16 --output C=float32:M,N
// run: --size M=4096 --size N=4096 --size K=2048 --input A=normal:M,K:float16 --input B=normal:K,N:float16 --output C=float32:M,N
// run: --size M=1024 --size N=1024 --size K=8192 --input A=normal:M,K:float16 --input B=normal:K,N:float16 --output C=float32:M,N
// launch: product_of_groups<<<dim3(N / 128, M / 128), 256, 98304>>>(A, B, C, N, K)

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define STAGES 3
#define STAGE ((128 + 128) * 64)

__device__ unsigned address_of(const void* place) { return (unsigned)__cvta_generic_to_shared(place); }

__device__ unsigned long long describe(const half* place, int leading)
{
    return (unsigned long long)((address_of(place) & 0x3FFFF) >> 4) | (unsigned long long)(leading >> 4) << 16 |
           (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

template <int ADDS> __device__ void multiply(float (&c)[64], unsigned long long a, unsigned long long b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}" ", %64, %65, %66, 1, 1, 0, 1;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]),
                   "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]),
                   "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
                   "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]),
                   "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]),
                   "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]),
                   "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]),
                   "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
                 : "l"(a), "l"(b), "n"(ADDS));
}

template <int LEFT> __device__ void await(float (&c)[64])
{
    asm volatile("wgmma.wait_group.sync.aligned %64;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]),
                   "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]),
                   "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
                   "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]),
                   "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]),
                   "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]),
                   "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]),
                   "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
                 : "n"(LEFT) : "memory");
}

__device__ void bring(half* stage, const half* A, const half* B, int N, int K)
{
    const int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
    half* to = stage + row * 64 + (chunk ^ (row % 8)) * 8;
    for (int i = 0; i < 4; i++)
        __pipeline_memcpy_async(to + i * 2048, A + (size_t)(row + i * 32) * K + chunk * 8, 16);
    to += 128 * 64;
    for (int j = 0; j < 128 / 64; j++)
        for (int i = 0; i < 2; i++)
            __pipeline_memcpy_async(to + j * 4096 + i * 2048, B + (size_t)(row + i * 32) * N + j * 64 + chunk * 8, 16);
}

__global__ void __launch_bounds__(256) product_of_groups(const half* A, const half* B, float* C, int N, int K)
{
    extern __shared__ __align__(1024) half stages[];
    A += (size_t)blockIdx.y * 128 * K;
    B += blockIdx.x * 128;
    float c[64];
    for (int k = 0; k < STAGES - 2; k++) {
        bring(stages + k * STAGE, A + k * 64, B + (size_t)k * 64 * N, N, K);
        __pipeline_commit();
    }
    auto await_stage = [&](int k) {
        __pipeline_wait_prior(STAGES - 3);
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        const int later = k + STAGES - 2;
        if (later < K / 64)
            bring(stages + later % STAGES * STAGE, A + later * 64, B + (size_t)later * 64 * N, N, K);
        __pipeline_commit();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        return stages + k % STAGES * STAGE;
    };
    const int own = threadIdx.x / 128 * 4096;
    const half* a = await_stage(0);
    multiply<0>(c, describe(a + own, 16), describe(a + 8192, 8192));
    for (int i = 1; i < 4; i++)
        multiply<1>(c, describe(a + own + i * 16, 16), describe(a + 8192 + i * 1024, 8192));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    for (int k = 1; k < K / 64; k++) {
        a = await_stage(k);
        for (int i = 0; i < 4; i++)
            multiply<1>(c, describe(a + own + i * 16, 16), describe(a + 8192 + i * 1024, 8192));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    await<0>(c);
    const int lane = threadIdx.x % 32, y = blockIdx.y * 128 + (threadIdx.x - 0) / 32 * 16 + lane / 4;
    for (int j = 0; j < 128 / 8; j++)
        for (int i = 0; i < 2; i++)
            *(float2*)&C[(size_t)(y + i * 8) * N + blockIdx.x * 128 + j * 8 + lane % 4 * 2] =
                make_float2(c[j * 4 + i * 2], c[j * 4 + i * 2 + 1]);
}
