// A transpose of 64 x 64 tiles by reads and stores of 16 bytes.
// run: --size h=2048 --size w=3072 --input x=normal:h,w --output y=float32:w,h
// run: --size h=8192 --size w=6144 --input x=normal:h,w --output y=float32:w,h
// launch: transpose_quads<<<dim3(w / 64, h / 64), 256>>>(y, x, h, w)

#define TILE 64

__global__ void transpose_quads(float* y, const float* x, int h, int w)
{
    __shared__ float tile[TILE][TILE + 1];
    const int tx = threadIdx.x % 16 * 4, ty = threadIdx.x / 16;
    const int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    for (int k = ty; k < TILE; k += 16) {
        const float4 quad = *(const float4*)&x[(top + k) * w + left + tx];
        tile[k][tx] = quad.x;
        tile[k][tx + 1] = quad.y;
        tile[k][tx + 2] = quad.z;
        tile[k][tx + 3] = quad.w;
    }
    __syncthreads();
    for (int k = ty; k < TILE; k += 16)
        *(float4*)&y[(left + k) * h + top + tx] =
            make_float4(tile[tx][k], tile[tx + 1][k], tile[tx + 2][k], tile[tx + 3][k]);
}
