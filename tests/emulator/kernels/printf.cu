// printf with every kind of argument, and what it returns.
// out: y int32[64]
// counters: ignored
// launch: run<<<2, 32>>>(y)
#include <cstdio>
__global__ void run(int* y)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = -5;
    if (i % 16 == 3) y[i] = printf("%d: %5.2f [%-6s] %c %llx 100%%\n", i, i / 4.0, i & 32 ? "upper" : "low", 'a' + i % 26, 1ull << i);
    if (i == 9) y[i] = printf("none\n");
}
