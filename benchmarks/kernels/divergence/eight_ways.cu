// A switch of eight ways by the data, in every round: a warp goes through most of them.
// run: --size n=1048576 --size rounds=8 --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size rounds=32 --input x=normal:n --output y=float32:n
// launch: eight_ways<<<n / 256, 256>>>(y, x, rounds)

__global__ void eight_ways(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int k = 0; k < rounds; k++)
        switch (__float_as_int(value) >> 13 & 7) {
        case 0: value = value * 1.1f + 0.1f; break;
        case 1: value = sqrtf(fabsf(value)) + 0.3f; break;
        case 2: value = value * fminf(value, 1.0f) - 0.7f; break;
        case 3: value = 1.3f / (1.0f + fabsf(value)); break;
        case 4: value = fminf(value, 2.0f) - 0.9f; break;
        case 5: value = __expf(-fabsf(value)); break;
        case 6: value = rsqrtf(1.0f + value * value); break;
        default: value = 0.37f - value * 0.61f; break;
        }
    y[i] = value;
}
