// printf of a kernel: formats, order within a thread, output at a synchronisation.
#include "check.h"

__global__ void formats(int n, const char *)
{
    printf("%d %5d|%-5d|%05d %x %#X %o %u\n", n, n, n, n, n, n, n, n);
    printf("%f %.2f %10.3e %g %G\n", 1.5 * n, 2.0 / 3, 1e-7 * n, 1e20, 0.0001);
    printf("%lld %llu %ld %c %s %p %%\n", -5000000000ll, 5000000000ull, 8l, 'x', "text",
           (void *)0x1234);
    printf("returns %d\n", printf("a %d b %d\n", 1, 2));
}

__global__ void from_one_thread(int block)
{
    if (threadIdx.x == 31 && blockIdx.x == block)
        for (int i = 0; i < 3; ++i)
            printf("block %d thread %d line %d\n", blockIdx.x, threadIdx.x, i);
}

int main()
{
    printf("before\n");
    formats<<<1, 1>>>(42, nullptr);
    CHECK(cudaDeviceSynchronize());
    printf("between\n");
    from_one_thread<<<4, 64>>>(2);
    from_one_thread<<<4, 64>>>(0);
    CHECK(cudaDeviceSynchronize());
    printf("after\n");
    return 0;
}
