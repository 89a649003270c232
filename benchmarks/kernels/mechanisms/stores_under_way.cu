// Each thread clears the words that it has just asked for: their loads are under way.
// run: --size n=16777216 --output y=index:n --output z=float32:n/1024
// run: --size n=2097152 --output y=index:n --output z=float32:n/1024
// launch: stores_under_way<<<n / 1024, 256>>>(z, y)

__global__ void stores_under_way(float* z, volatile float* y)
{
    const int first = blockIdx.x * 1024 + threadIdx.x;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        sum += y[first + 256 * k];
        y[first + 256 * k] = 0.0f;
    }
    if (threadIdx.x == 0 || sum == 0.5f) z[blockIdx.x] = sum;
}
