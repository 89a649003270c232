// A tensor map made by the driver's entry point; a kernel loads and stores boxes with it.
// nvcc: -arch=sm_90
#include "check.h"
#include <cuda.h>
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace tma = cuda::device::experimental;

const int SIDE = 16, WIDTH = 64, HEIGHT = 32;

__global__ void negate(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) int tile[SIDE][SIDE];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier arrived;
    int x = blockIdx.x * SIDE, y = blockIdx.y * SIDE;
    if (threadIdx.x == 0) {
        init(&arrived, blockDim.x);
        tma::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        tma::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, arrived);
        token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof(tile));
    } else {
        token = arrived.arrive();
    }
    arrived.wait(std::move(token));
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x)
        tile[i / SIDE][i % SIDE] = -tile[i / SIDE][i % SIDE] - blockIdx.y;
    tma::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);
        tma::cp_async_bulk_commit_group();
        tma::cp_async_bulk_wait_group_read<0>();
    }
}

int main()
{
    decltype(&cuTensorMapEncodeTiled) encode;
    cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                           cudaEnableDefault, &status));
    int *data;
    CHECK(cudaMallocManaged(&data, WIDTH * HEIGHT * sizeof(int)));
    for (int i = 0; i < WIDTH * HEIGHT; ++i)
        data[i] = i;
    CUtensorMap map;
    cuuint64_t sizes[] = {WIDTH, HEIGHT}, strides[] = {WIDTH * sizeof(int)};
    cuuint32_t box[] = {SIDE, SIDE}, steps[] = {1, 1};
    CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, sizes, strides, box,
                             steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("encode %d\n", result);
    negate<<<dim3(WIDTH / SIDE, HEIGHT / SIDE), 128>>>(map);
    CHECK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < WIDTH * HEIGHT; ++i)
        wrong += data[i] != -i - i / WIDTH / SIDE;
    printf("wrong %d, last %d\n", wrong, data[WIDTH * HEIGHT - 1]);
    strides[0] = 13;
    result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, sizes, strides, box, steps,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("bad stride %d\n", result);
    CHECK(cudaFree(data));
    return wrong;
}
