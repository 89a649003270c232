// Tiles as two structs in dynamic shared memory, the patch as a struct with methods; 128 x 128 a block, 8 x 8 a thread.
#define SIDE 128
#define DEPTH 8
#define PITCH (SIDE + 4)
// launch: gemm<<<dim3(ceil_div(N, SIDE), ceil_div(M, SIDE)), 256, 2 * DEPTH * PITCH * 4>>>(A, B, C, M, N, K)
struct Tile {
    float value[DEPTH][PITCH];
    __device__ float4 quad(int k, int i) const { return *reinterpret_cast<const float4*>(&value[k][i]); }
};

struct Patch {
    float sum[8][8];
    __device__ void add(const float (&u)[8], const float (&v)[8])
    {
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            #pragma unroll
            for (int j = 0; j < 8; ++j) sum[i][j] += u[i] * v[j];
    }
};

__device__ void unpack(float (&to)[8], const Tile& tile, int k, int i)
{
    float4 low = tile.quad(k, i), high = tile.quad(k, i + SIDE / 2);
    to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
    to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}

extern "C" __global__ void __launch_bounds__(256) gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    Tile& a = reinterpret_cast<Tile*>(bytes)[0];
    Tile& b = reinterpret_cast<Tile*>(bytes)[1];
    const int tid = threadIdx.x, top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    const int row = tid / 16 * 4, col = tid % 16 * 4;
    Patch patch = {};
    for (int t = 0; t < K; t += DEPTH) {
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            int r = tid / 8 + 32 * i, k = tid % 8;  // 4 rows by 8 values of k a warp: banks 4 k + r
            a.value[k][r] = top + r < M && t + k < K ? A[(size_t)(top + r) * K + t + k] : 0.f;
        }
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            int k = tid / 128 + 2 * i, q = tid % 128;
            b.value[k][q] = t + k < K && left + q < N ? B[(size_t)(t + k) * N + left + q] : 0.f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float u[8], v[8];
            unpack(u, a, k, row);
            unpack(v, b, k, col);
            patch.add(u, v);
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i)
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
            int y = top + row + i % 4 + i / 4 * 64, x = left + col + j % 4 + j / 4 * 64;
            if (y < M && x < N) C[(size_t)y * N + x] = patch.sum[i][j];
        }
}
