// Prices of European options after Black and Scholes.
// run: --size n=1048576 --input spots=index:n --input strikes=index:n --input years=index:n --output calls=float32:n --output puts=float32:n
// run: --size n=8388608 --input spots=index:n --input strikes=index:n --input years=index:n --output calls=float32:n --output puts=float32:n
// launch: black_scholes<<<ceil_div(n, 256), 256>>>(calls, puts, spots, strikes, years, 0.02f, 0.30f, n)

__device__ inline float normal_cdf(float d) { return 0.5f * erfcf(-d * 0.70710678f); }

__global__ void black_scholes(float* __restrict__ calls, float* __restrict__ puts,
                              const float* __restrict__ spots, const float* __restrict__ strikes,
                              const float* __restrict__ years, float rate, float volatility, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float S = spots[i], X = strikes[i], T = years[i], root = sqrtf(T);
  const float d1 = (__logf(S / X) + (rate + 0.5f * volatility * volatility) * T) / (volatility * root);
  const float d2 = d1 - volatility * root, discount = X * __expf(-rate * T);
  calls[i] = S * normal_cdf(d1) - discount * normal_cdf(d2);
  puts[i] = discount * normal_cdf(-d2) - S * normal_cdf(-d1);
}
