// What special registers say of shared memory, in three launches.
// out: y uint32[24]
// launch: run<<<1, 32>>>(y, 0)
// launch: run<<<1, 32, 1000>>>(y, 8)
// launch: array<<<1, 32, 20000>>>(y, 16)
__device__ void say(unsigned int* y)
{
    unsigned int v;
    int k = 0;
#define PUT(name) asm volatile("mov.u32 %0, %" #name ";" : "=r"(v)); y[k++] = v;
    PUT(%total_smem_size) PUT(%dynamic_smem_size) PUT(%aggr_smem_size) PUT(%reserved_smem_offset_end)
    PUT(%reserved_smem_offset_1) PUT(%reserved_smem_offset_begin) PUT(%reserved_smem_offset_cap) PUT(%pm3)
}
__global__ void run(unsigned int* y, int first)
{
    __shared__ volatile unsigned int word;
    word = 1;
    if (threadIdx.x == 0) say(y + first);
}
__global__ void array(unsigned int* y, int first)
{
    __shared__ volatile unsigned int words[1000];
    words[threadIdx.x] = 1;
    if (threadIdx.x == 0) say(y + first);
}
