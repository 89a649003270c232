// Constant memory by pointers that may as well point to global memory, also as an argument of a function that is not inlined.
// in: a int32[64] = small
// out: y int32[192]
// launch: run<<<2, 32>>>(y, a, 3)
__constant__ int table[64] = {5, 4, 3, 2, 1, -1, 7, 9, 11};
__constant__ int other[4] = {100, 200, 300, 400};
__device__ int in_global[4] = {1000, 2000, 3000, 4000};
__device__ __noinline__ int pick(const int* p, int i) { return p[i & 3]; }
__global__ void run(int* y, const int* a, int n)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    const int* p = a[i] > 0 ? table + 4 : a[i] < -4 ? other : in_global;
    y[i] = pick(p, i);
    y[64 + i] = p[n] + table[i & 7];
    unsigned int where;
    asm("{ .reg .pred c, g; isspacep.const c, %1; isspacep.global g, %1; selp.u32 %0, 1, 0, c; @g add.u32 %0, %0, 2; }" : "=r"(where) : "l"(p));
    y[128 + i] = where;
}
