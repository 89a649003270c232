// Words of a table that fits the L1 at places that depend on data: a load's lanes take many lines.
// run: --size n=1048576 --size m=1024 --input table=normal:m --output y=float32:n
// run: --size n=1048576 --size m=16384 --input table=normal:m --output y=float32:n
// launch: l1_lookups<<<n / 256, 256>>>(y, table, m)

__global__ void l1_lookups(float* y, const float* table, int m)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, state = i * 2654435761u;
    float sum = 0;
    for (int k = 0; k < 16; k++) {
        state = state * 1664525u + 1013904223u;
        sum += table[(state >> 12) & (m - 1)];
    }
    y[i] = sum;
}
