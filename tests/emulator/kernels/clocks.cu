// clock, clock64 and the global timer go forward; __nanosleep returns.
// out: y int32[32]
// counters: ignored
// launch: run<<<1, 32>>>(y)
__global__ void run(int* y)
{
    unsigned long long then, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(then));
    const long long start = clock64();
    const clock_t early = clock();
    __nanosleep(100);
    const long long stop = clock64();
    const clock_t late = clock();
    while (clock64() - stop < 100) {}
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    y[threadIdx.x] = (stop > start) + 2 * (late - early > 0) + 4 * (now >= then);
}
