// Row sums, a thread per row, by float4 loads: a warp's load touches 32 lines, each for two loads.
// run: --size rows=262144 --size cols=64 --input a=normal:rows,cols --output y=float32:rows
// run: --size rows=32768 --size cols=1024 --input a=normal:rows,cols --output y=float32:rows
// launch: sums_float4<<<rows / 128, 128>>>(y, a, cols / 4)

__global__ void sums_float4(float* y, const float4* a, int quads)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < quads; k++) {
        float4 v = a[row * quads + k];
        sum += v.x + v.y + v.z + v.w;
    }
    y[row] = sum;
}
