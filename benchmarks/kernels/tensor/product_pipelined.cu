// A product of halves on tensor cores with all that a library does: asynchronous copies two tiles
// ahead, matrices from shared memory by ldmatrix without conflicts (16 bytes of a row change places
// with the row), mma.sync by inline PTX. A block of eight warps computes 128 by 128 elements, a warp
// 64 by 32 of them. B is given by columns.
// run: --size n=2048 --input AB=normal:2*n,n:float16 --output C=float32:n,n
// run: --size n=4096 --input AB=normal:2*n,n:float16 --output C=float32:n,n
// launch: product_pipelined<<<dim3(n / 128, n / 128), 256>>>(C, AB, n)

#include <cuda_fp16.h>

#define DEPTH 32
#define STAGES 3

__device__ unsigned place(const half* tile, int row, int part)
{
    return (unsigned)__cvta_generic_to_shared(tile + row * DEPTH + (part ^ (row / 2 % 4)) * 8);
}

__device__ void copy_tile(half* tile, const half* matrix, int n)
{
    for (int i = threadIdx.x; i < 128 * DEPTH / 8; i += 256)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place(tile, i / 4, i % 4)),
                     "l"(matrix + (size_t)(i / 4) * n + i % 4 * 8)
                     : "memory");
}

__device__ void load_four(unsigned* r, unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

__global__ void __launch_bounds__(256, 2) product_pipelined(float* C, const half* A, int n)
{
    __shared__ __align__(128) half left[STAGES][128 * DEPTH], right[STAGES - 1][128 * DEPTH];
    const half* B = A + (size_t)n * n;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int row = warp / 4 * 64, column = warp % 4 * 32;
    const half *a_rows = A + (size_t)blockIdx.y * 128 * n, *b_rows = B + (size_t)blockIdx.x * 128 * n;
    float c[4][4][4] = {};
    copy_tile(left[0], a_rows, n);
    copy_tile(right[0], b_rows, n);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int k = 0, step = 0; k < n; k += DEPTH, step++) {
        if (k + DEPTH < n) {
            copy_tile(left[(step + 1) % STAGES], a_rows + k + DEPTH, n);
            copy_tile(right[(step + 1) % 2], b_rows + k + DEPTH, n);
        }
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int part = 0; part < DEPTH / 8; part += 2) {
            unsigned a[4][4], b[2][4];
            for (int i = 0; i < 4; i++)
                load_four(a[i], place(left[step % STAGES], row + i * 16 + lane % 16, part + lane / 16));
            for (int i = 0; i < 2; i++)
                load_four(b[i], place(right[step % 2], column + i * 16 + lane / 16 * 8 + lane % 8,
                                      part + lane / 8 % 2));
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(c[i][j][0]), "+f"(c[i][j][1]), "+f"(c[i][j][2]), "+f"(c[i][j][3])
                                 : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]),
                                   "r"(b[j / 2][j % 2 * 2]), "r"(b[j / 2][j % 2 * 2 + 1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int half_row = 0; half_row < 2; half_row++) {
                const int y = blockIdx.y * 128 + row + i * 16 + half_row * 8 + lane / 4;
                const int x = blockIdx.x * 128 + column + j * 8 + lane % 4 * 2;
                *(float2*)&C[(size_t)y * n + x] =
                    make_float2(c[i][j][half_row * 2], c[i][j][half_row * 2 + 1]);
            }
}
