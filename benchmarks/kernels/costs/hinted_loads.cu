// Warps that load a line of their own (apart 32), or all the same (0), again and again, 4 loads a turn
// one after another, with a hint of how caches are to treat it.
// run: --size turns=200 --size how=0 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=0 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=0 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=1 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=1 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=1 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=2 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=2 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=2 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=3 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=3 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=3 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=4 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=4 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=4 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=5 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=5 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=5 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=6 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=6 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=6 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=7 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=7 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=7 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=8 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=8 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=8 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=9 --size threads=32 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=9 --size threads=512 --size apart=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=200 --size how=9 --size threads=512 --size apart=0 --input x=normal:1048576 --output y=float32:132*threads
// launch: hinted_loads<<<132, threads>>>(y, x, turns, how, apart)

#define LOAD(instruction)                                                                          \
    for (int k = 0; k < turns; k++)                                                                \
        for (int word = 0; word < 4; word++) {                                                     \
            float found;                                                                           \
            asm volatile(instruction " %0, [%1];" : "=f"(found) : "l"(x + at) : "memory");         \
            sum += found;                                                                          \
            at = place + (found > 1e30f);                                                          \
        }

__global__ void hinted_loads(float* y, const float* x, int turns, int how, int apart)
{
    int place = threadIdx.x / 32 * apart + threadIdx.x % 32, at = place;
    float sum = 0;
    switch (how) {
        case 0: LOAD("ld.global.f32"); break; // plain
        case 1: LOAD("ld.global.L1::no_allocate.f32"); break; // no_allocate
        case 2: LOAD("ld.global.nc.L1::no_allocate.f32"); break; // no_allocate_constant
        case 3: LOAD("ld.global.cg.f32"); break; // cached_in_l2
        case 4: LOAD("ld.global.L1::evict_first.f32"); break; // evict_first
        case 5: LOAD("ld.global.lu.f32"); break; // last_use
        case 6: LOAD("ld.global.L1::evict_last.f32"); break; // evict_last
        case 7: LOAD("ld.volatile.global.f32"); break; // volatile
        case 8: LOAD("ld.global.ca.f32"); break; // cached
        case 9: LOAD("ld.global.L1::evict_unchanged.f32"); break; // unchanged
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
