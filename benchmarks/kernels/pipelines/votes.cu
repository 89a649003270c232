// Votes of a warp and counts of their ones, in turn with comparisons.
// run: --size n=1081344 --size rounds=16 --input x=normal:n --output y=int32:n
// run: --size n=8650752 --size rounds=64 --input x=normal:n --output y=int32:n
// launch: votes<<<n / 256, 256>>>(y, x, rounds)

__global__ void votes(int* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float value = x[i];
    int rank = 0;
    for (int k = 0; k < rounds; k++)
        rank += __popc(__ballot_sync(0xffffffffu, value * k > 0.01f * rank - 1.0f));
    y[i] = rank;
}
