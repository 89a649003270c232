// Prefetches into the L2 (how 0) or the L1 (1), and loads that nothing waits for until the end (2): of
// neighbouring words of lanes (step 1), or a sector each (8), or random ones (0) of a range.
// run: --size turns=16 --size how=0 --size range=1024 --size step=1 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=0 --size range=1024 --size step=8 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=0 --size range=1048576 --size step=1 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=0 --size range=1048576 --size step=0 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=0 --size range=67108864 --size step=1 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=0 --size range=67108864 --size step=0 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=1 --size range=1024 --size step=1 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=1 --size range=1024 --size step=8 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=1 --size range=1048576 --size step=1 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=1 --size range=1048576 --size step=0 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=1 --size range=67108864 --size step=1 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=1 --size range=67108864 --size step=0 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=2 --size range=1024 --size step=1 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=2 --size range=1024 --size step=8 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=2 --size range=1048576 --size step=1 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=2 --size range=1048576 --size step=0 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=2 --size range=67108864 --size step=1 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// run: --size turns=16 --size how=2 --size range=67108864 --size step=0 --size threads=256 --input x=normal:67108864 --output y=float32:1056*threads
// launch: prefetches<<<1056, threads>>>(y, x, turns, how, range, step)

__global__ void prefetches(float* y, const float* x, int turns, int how, int range, int step)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < turns; k++) {
        unsigned at = (i + k * gridDim.x * blockDim.x) * (step ? step : 2654435761u);
        at = step ? at : at ^ at >> 15;
        const float* place = x + (at & (range - 1));
        if (how == 0)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(place));
        else if (how == 1)
            asm volatile("prefetch.global.L1 [%0];" ::"l"(place));
        else
            sum += *place;
    }
    y[i] = sum;
}
