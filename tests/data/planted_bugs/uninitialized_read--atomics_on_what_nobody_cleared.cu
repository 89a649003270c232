// Scratch memory does not start at zero.
// in: int a[64]
// out: int y[16]
// launch: count<<<1, 64>>>(y, a)
extern "C" __global__ void count(int* y, const int* a) {
    atomicAdd(&y[a[threadIdx.x] % 16], 1);  // BUG
}
