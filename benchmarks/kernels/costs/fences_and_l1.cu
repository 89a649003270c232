// Blocks that read the same words again and again, which a fence of all warps (fenced 1: the GPU's, 2:
// the system's) or of one warp (3) lets go out of the L1.
// run: --size turns=100 --size words=256 --size fenced=0 --input x=normal:1048576 --output y=float32:132*256
// run: --size turns=100 --size words=256 --size fenced=1 --input x=normal:1048576 --output y=float32:132*256
// run: --size turns=100 --size words=256 --size fenced=2 --input x=normal:1048576 --output y=float32:132*256
// run: --size turns=100 --size words=256 --size fenced=3 --input x=normal:1048576 --output y=float32:132*256
// run: --size turns=100 --size words=4096 --size fenced=0 --input x=normal:1048576 --output y=float32:132*256
// run: --size turns=100 --size words=4096 --size fenced=1 --input x=normal:1048576 --output y=float32:132*256
// run: --size turns=100 --size words=4096 --size fenced=2 --input x=normal:1048576 --output y=float32:132*256
// run: --size turns=100 --size words=4096 --size fenced=3 --input x=normal:1048576 --output y=float32:132*256
// launch: fences_and_l1<<<132, 256>>>(y, x, turns, words, fenced)

__global__ void fences_and_l1(float* y, const float* x, int turns, int words, int fenced)
{
    float sum = 0;
    const volatile int* never = (const volatile int*)&words;
#pragma unroll 1
    for (int k = 0; k < turns; k++) {
        for (int i = threadIdx.x; i < words; i += 256)
            asm volatile("{ .reg .f32 v; ld.global.f32 v, [%1]; add.f32 %0, %0, v; }" : "+f"(sum) : "l"(x + i));
        if (fenced == 1 || (fenced == 3 && threadIdx.x < 32))
            __threadfence();
        if (fenced == 2)
            __threadfence_system();
    }
    y[blockIdx.x * 256 + threadIdx.x] = sum + (never == nullptr);
}
