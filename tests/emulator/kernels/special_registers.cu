// Special registers whose values a launch fixes: lane, masks, sizes and indices of blocks and grids in three dimensions.
// out: y uint32[2304]
// launch: run<<<dim3(2, 3, 2), dim3(4, 2, 2)>>>(y)
__global__ void run(unsigned int* y)
{
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned int* out = y + 12 * (16 * block + threadIdx.x + 4 * (threadIdx.y + 2 * threadIdx.z));
    unsigned int v;
    int k = 0;
#define PUT(name) asm volatile("mov.u32 %0, %" #name ";" : "=r"(v)); out[k++] = v;
    PUT(%laneid) PUT(%lanemask_eq) PUT(%lanemask_lt) PUT(%lanemask_le) PUT(%lanemask_gt) PUT(%lanemask_ge)
    PUT(%ctaid.z) PUT(%nctaid.y) PUT(%ntid.z) PUT(%tid.y) PUT(%warpid) PUT(%dynamic_smem_size)
}
