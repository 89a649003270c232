// Whole numbers add up to the same in every order.
// in: int a[64]
// out: int y[1]
// launch: clear<<<1, 1>>>(y)
// launch: total<<<2, 32>>>(y, a)
extern "C" __global__ void clear(int* y) { y[0] = 0; }
extern "C" __global__ void total(int* y, const int* a) { atomicAdd(y, a[blockIdx.x * 32 + threadIdx.x]); }
