// Warps that read lines of their own again and again, of which a fence (1: for the GPU, 2: for the
// system) leaves none in the L1. y: cycles of a turn.
// run: --size turns=100 --size lines=1 --size fenced=0 --size threads=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=1 --size fenced=1 --size threads=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=1 --size fenced=2 --size threads=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=16 --size fenced=0 --size threads=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=16 --size fenced=1 --size threads=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=16 --size fenced=2 --size threads=32 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=1 --size fenced=0 --size threads=256 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=1 --size fenced=1 --size threads=256 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=1 --size fenced=2 --size threads=256 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=16 --size fenced=0 --size threads=256 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=16 --size fenced=1 --size threads=256 --input x=normal:1048576 --output y=float32:132*threads
// run: --size turns=100 --size lines=16 --size fenced=2 --size threads=256 --input x=normal:1048576 --output y=float32:132*threads
// launch: fences_and_l1<<<132, threads>>>(y, x, turns, lines, fenced)

__global__ void fences_and_l1(float* y, const float* x, int turns, int lines, int fenced)
{
    float sum = 0;
    const float* own = x + threadIdx.x / 32 * lines * 32 + threadIdx.x % 32;
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++) {
#pragma unroll 4
        for (int i = 0; i < lines; i++) {
            float found;
            asm volatile("ld.global.f32 %0, [%1];" : "=f"(found) : "l"(own + 32 * i));
            sum += found;
        }
        if (fenced == 1)
            __threadfence();
        if (fenced == 2)
            __threadfence_system();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns + (sum == 1.5f);
}
