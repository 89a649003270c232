// One warp fills a double buffer, the other one sums it up; barriers 1 and 2 say full, 3 and 4 empty.
// in: a int32[512] = small
// out: y int32[32]
// launch: run<<<1, 64>>>(y, a)
__global__ void run(int* y, const int* a)
{
    __shared__ int s[2][32];
    const int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 16; ++k) {
            if (k & 1) asm volatile("bar.sync 4, 64;" ::: "memory");
            else asm volatile("bar.sync 3, 64;" ::: "memory");
            s[k & 1][lane] = a[32 * k + lane] * (k + 1);
            if (k & 1) asm volatile("bar.arrive 2, 64;" ::: "memory");
            else asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else {
        int sum = 0;
        asm volatile("bar.arrive 3, 64;" ::: "memory");
        asm volatile("bar.arrive 4, 64;" ::: "memory");
        for (int k = 0; k < 16; ++k) {
            if (k & 1) asm volatile("bar.sync 2, 64;" ::: "memory");
            else asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += s[k & 1][31 - lane];
            if (k < 14) {
                if (k & 1) asm volatile("bar.arrive 4, 64;" ::: "memory");
                else asm volatile("bar.arrive 3, 64;" ::: "memory");
            }
        }
        y[lane] = sum;
    }
}
