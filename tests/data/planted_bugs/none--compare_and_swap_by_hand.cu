// The largest float by a loop that starts with a plain read (CUDA C++ Programming Guide, atomic functions).
// in: float a[256]
// out: float y[1]
// launch: clear<<<1, 1>>>(y)
// launch: largest<<<4, 64>>>(y, a)
extern "C" __global__ void clear(float* y) { y[0] = 0.0f; }
extern "C" __global__ void largest(float* y, const float* a) {
    float value = a[blockIdx.x * 64 + threadIdx.x];
    int* place = (int*)y;
    int old = *place, assumed;
    do {
        assumed = old;
        old = atomicCAS(place, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
}
