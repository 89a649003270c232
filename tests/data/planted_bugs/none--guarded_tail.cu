// The twin of one_past_the_end.
// in: float a[100]
// out: float y[100]
// launch: copy<<<4, 32>>>(y, a)
extern "C" __global__ void copy(float* y, const float* a) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < 100) y[i] = a[i];
}
