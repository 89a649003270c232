// Votes at barriers with a number: barrier.red of all threads and of a part of the block, two parts at once.
// out: y int32[384]
// launch: run<<<1, 96>>>(y)
__global__ void run(int *y) {
    int t = threadIdx.x, r;
    asm volatile("{.reg .pred p, q; setp.lt.s32 p, %1, 40; barrier.cta.red.or.pred q, 3, p; selp.s32 %0, 1, 0, q;}" : "=r"(r) : "r"(t));
    y[t] = r;
    asm volatile("{.reg .pred p, q; setp.lt.s32 p, %1, 40; barrier.cta.red.and.pred q, 3, p; selp.s32 %0, 1, 0, q;}" : "=r"(r) : "r"(t));
    y[96 + t] = r;
    asm volatile("{.reg .pred p; setp.lt.s32 p, %1, 40; barrier.cta.red.popc.u32 %0, 2, p;}" : "=r"(r) : "r"(t));
    y[192 + t] = r;
    if (t < 64) asm volatile("{.reg .pred p; setp.lt.s32 p, %1, 40; barrier.cta.red.popc.u32 %0, 4, 64, p;}" : "=r"(r) : "r"(t));
    else asm volatile("{.reg .pred p; setp.gt.s32 p, %1, 90; barrier.cta.red.popc.u32 %0, 5, 32, p;}" : "=r"(r) : "r"(t));
    y[288 + t] = r;
}
