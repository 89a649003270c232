// A fast Fourier transform (radix 2): indices with their bits reversed, then a launch a stage.
// launch: reverse<<<ceil_div(1 << bits, 128), 128>>>(y, x, bits)
// launch: for (int width = 1; width < (1 << bits); width <<= 1)
// launch:     butterflies<<<ceil_div(1 << (bits - 1), 128), 128>>>(y, bits, width);

__global__ void reverse(float2* y, const float2* x, int bits) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1u << bits) y[__brev(i) >> (32 - bits)] = x[i];
}

__device__ __forceinline__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__global__ void butterflies(float2* y, int bits, int half) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= 1 << (bits - 1)) return;
  int k = t & (half - 1), low = 2 * (t - k) + k, high = low + half;
  float2 turn;
  sincospif(-(float)k / half, &turn.y, &turn.x);
  float2 a = y[low], b = times(y[high], turn);
  y[low] = make_float2(a.x + b.x, a.y + b.y);
  y[high] = make_float2(a.x - b.x, a.y - b.y);
}
