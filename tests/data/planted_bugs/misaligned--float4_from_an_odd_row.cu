// Rows of 18 floats do not start at multiples of 16 bytes.
// in: float a[72]
// out: float y[16]
// launch: first<<<1, 4>>>(y, a)
extern "C" __global__ void first(float* y, const float* a) {
    float4 four = *(const float4*)(a + 18 * threadIdx.x);  // BUG
    y[4 * threadIdx.x] = four.x + four.y + four.z + four.w;
}
