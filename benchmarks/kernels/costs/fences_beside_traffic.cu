// Fences behind `loads` loads and `stores` stores of a line each, by 64 warps per SM; scope 1: none.
// y: cycles of a turn.
// run: --size turns=40 --size scope=1 --size loads=0 --size stores=1 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=1 --size loads=1 --size stores=1 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=1 --size loads=0 --size stores=4 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=1 --size loads=4 --size stores=4 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=2 --size loads=0 --size stores=0 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=2 --size loads=0 --size stores=1 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=2 --size loads=1 --size stores=1 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=2 --size loads=0 --size stores=4 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=2 --size loads=4 --size stores=4 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=3 --size loads=0 --size stores=0 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=3 --size loads=0 --size stores=1 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=3 --size loads=1 --size stores=1 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=3 --size loads=0 --size stores=4 --input x=normal:16777216 --output y=float32:270336+16777216
// run: --size turns=40 --size scope=3 --size loads=4 --size stores=4 --input x=normal:16777216 --output y=float32:270336+16777216
// launch: fences<<<264, 1024>>>(y, x, turns, scope, loads, stores)

__global__ void fences(float* y, const float* x, int turns, int scope, int loads, int stores)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    unsigned place = i;
    float sum = 0.0f;
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++) {
        for (int j = 0; j < loads; j++) sum += x[(place + j * all) % 16777216];
        for (int j = 0; j < stores; j++) y[all + (place + j * all) % 16777216] = sum;
        place += max(loads, stores) * all;
        if (scope == 2) __threadfence();
        if (scope == 3) __threadfence_system();
    }
    y[i] = float(clock64() - start) / turns + (sum == -1.0f);
}
