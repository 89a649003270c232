// Prices of European options by Black and Scholes: logarithms, exponentials, square roots,
// divisions.
// run: --size n=1048576 --input x=normal:3*n --output call=float32:n --output put=float32:n
// run: --size n=16777216 --input x=normal:3*n --output call=float32:n --output put=float32:n
// launch: black_scholes<<<ceil_div(n, 256), 256>>>(call, put, x, n)

#define RATE 0.02f
#define VOLATILITY 0.3f

// The normal distribution up to `d`.
__device__ float below(float d)
{
    return 0.5f * erfcf(-0.70710678f * d);
}

__global__ void black_scholes(float* call, float* put, const float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float price = 20.0f + 2.0f * fabsf(x[i]), strike = 20.0f + 3.0f * fabsf(x[n + i]);
    const float years = 0.25f + fabsf(x[2 * n + i]);
    const float spread = VOLATILITY * sqrtf(years);
    const float d = (logf(price / strike) + RATE * years) / spread + 0.5f * spread;
    const float due = strike * expf(-RATE * years);
    const float value = price * below(d) - due * below(d - spread);
    call[i] = value;
    put[i] = value + due - price;
}
