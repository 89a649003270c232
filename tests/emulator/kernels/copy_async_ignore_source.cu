// Asynchronous copies that some lanes are told to ignore: zeros arrive.
// in: a uint64[64] = random
// out: y uint64[64]
// launch: run<<<1, 64>>>(y, a)
__global__ void run(unsigned long long* y, const unsigned long long* a)
{
    __shared__ unsigned long long s[64];
    const int i = threadIdx.x;
    const unsigned int target = __cvta_generic_to_shared(&s[i]);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 8, p; }" ::"r"(target), "l"(a + i), "r"(i % 3));
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
    __syncthreads();
    y[i] = s[63 - i];
}
