// Instructions that the model takes for an issue slot, eight per turn. y: cycles of a turn.
// run: --size turns=200 --size how=0 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=1 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=2 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=3 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=4 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=5 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=6 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=7 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=8 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=9 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size how=0 --size threads=1024 --output y=float32:132*threads
// run: --size turns=200 --size how=1 --size threads=1024 --output y=float32:132*threads
// run: --size turns=200 --size how=2 --size threads=1024 --output y=float32:132*threads
// run: --size turns=200 --size how=3 --size threads=1024 --output y=float32:132*threads
// run: --size turns=200 --size how=4 --size threads=1024 --output y=float32:132*threads
// run: --size turns=200 --size how=5 --size threads=1024 --output y=float32:132*threads
// run: --size turns=200 --size how=6 --size threads=1024 --output y=float32:132*threads
// run: --size turns=200 --size how=7 --size threads=1024 --output y=float32:132*threads
// run: --size turns=200 --size how=8 --size threads=1024 --output y=float32:132*threads
// run: --size turns=200 --size how=9 --size threads=1024 --output y=float32:132*threads
// launch: issue_slots<<<132, threads>>>(y, turns, how)

#define EIGHT(code) code; code; code; code; code; code; code; code;
#define REPEAT(code)                                                                               \
    {                                                                                              \
        _Pragma("unroll 1") for (int k = 0; k < turns; k++)                                        \
        {                                                                                          \
            EIGHT(code)                                                                            \
        }                                                                                          \
        break;                                                                                     \
    }

__global__ void issue_slots(float* y, int turns, int how)
{
    unsigned sum = threadIdx.x, lane = threadIdx.x % 32, mask = lane < 16 ? 0xFFFFu : 0xFFFF0000u;
    long long start = clock64();
    switch (how) {
    case 0: REPEAT() // nothing
    case 1: REPEAT(asm volatile("fence.proxy.async;" ::: "memory")) // a fence for asynchronous copies
    case 2: REPEAT(__syncwarp(mask)) // __syncwarp of some lanes
    case 3: REPEAT(sum += clock()) // the clock, 32 bits
    case 4: REPEAT(sum += clock64()) // the clock, 64 bits
    case 5: REPEAT(asm volatile("pmevent 1;")) // pmevent
    case 6: REPEAT(asm volatile("griddepcontrol.wait;" ::: "memory")) // griddepcontrol.wait
    case 7: REPEAT(asm volatile("griddepcontrol.launch_dependents;")) // griddepcontrol.launch_dependents
    case 8: REPEAT(asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory")) // a fence for barrier objects
    case 9: REPEAT(if (lane & 1) sum = sum * 3 + k; else sum = sum * 5 - k) // a branch that splits lanes
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns + (sum == 12345);
}
