// Fences for the whole system: the instructions and store requests that they take (two).
// in: a uint32[128] = random
// out: y uint32[128]
// launch: run<<<2, 64>>>(y, a)
__global__ void run(unsigned *y, const unsigned *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 1; __threadfence_system(); y[i] = a[i]; __threadfence_system();
}
