// cooperative_groups::memcpy_async of a whole block.
// in: a float32[192] = random
// out: y float32[192]
// launch: run<<<1, 192>>>(y, a)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void run(float* y, const float* a)
{
    __shared__ float s[192];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, a, sizeof(float) * 192);
    cg::wait(block);
    y[threadIdx.x] = s[191 - threadIdx.x];
}
