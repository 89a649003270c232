// A bitonic sorting network of a power of two: a launch a step.
// launch: for (int k = 2; k <= n; k <<= 1)
// launch:     for (int j = k >> 1; j > 0; j >>= 1)
// launch:         compare<<<ceil_div(n, 256), 256>>>(keys, j, k);

__global__ void compare(float* keys, int j, int k) {
  unsigned i = threadIdx.x + blockDim.x * blockIdx.x, partner = i ^ j;
  if (partner > i) {
    float a = keys[i], b = keys[partner];
    bool up = (i & k) == 0;
    if ((a > b) == up) {
      keys[i] = b;
      keys[partner] = a;
    }
  }
}
