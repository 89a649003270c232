// Sums of 16 halves at once, by a product with a matrix of ones: a warp reads 256 elements at once,
// and the memory decides.
// run: --size n=16777216 --input x=normal:n:float16 --output y=float32:n/16
// run: --size n=134217728 --input x=normal:n:float16 --output y=float32:n/16
// launch: sums_of_rows<<<ceil_div(n, 8192), 256>>>(y, x)

#include <mma.h>

using namespace nvcuda::wmma;

__global__ void sums_of_rows(float* y, const half* x)
{
    __shared__ __align__(32) float sums[8][256];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, col_major> ones;
    fragment<accumulator, 16, 16, 16, float> c;
    fill_fragment(ones, __float2half(1.0f));
    for (int turn = 0; turn < 4; turn++) {
        const int matrix = (blockIdx.x * 8 + warp) * 4 + turn;
        load_matrix_sync(a, x + (size_t)matrix * 256, 16);
        fill_fragment(c, 0.0f);
        mma_sync(c, a, ones, c);
        store_matrix_sync(sums[warp], c, 16, mem_row_major);
        __syncwarp();
        if (lane < 16)
            y[matrix * 16 + lane] = sums[warp][lane * 16];
        __syncwarp();
    }
}
