// A local array of 32 words per thread, filled once and read 64 times where data say.
// run: --size n=131072 --input x=normal:32*n --input key=small_integers:n:int32 --output y=float32:n
// run: --size n=1048576 --input x=normal:32*n --input key=small_integers:n:int32 --output y=float32:n
// launch: lookups<<<n / 256, 256>>>(y, x, key, n)

__global__ void lookups(float* y, const float* x, const int* key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = key[i] & 31;
    float value[32], sum = 0;
    for (int k = 0; k < 32; k++) value[k] = x[k * n + i];
    for (int k = 0; k < 64; k++) {
        sum += value[at];
        at = (at * 5 + 3) & 31;
    }
    y[i] = sum;
}
