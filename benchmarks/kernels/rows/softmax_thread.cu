// Softmax over rows, a thread per row, in three passes: each pass walks the row anew.
// run: --size rows=262144 --size cols=32 --input x=normal:rows,cols --output y=float32:rows,cols
// run: --size rows=32768 --size cols=256 --input x=normal:rows,cols --output y=float32:rows,cols
// run: --size rows=16384 --size cols=1024 --input x=normal:rows,cols --output y=float32:rows,cols
// launch: softmax_thread<<<rows / 128, 128>>>(y, x, cols)

__global__ void softmax_thread(float* y, const float* x, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    const float* in = x + row * cols;
    float* out = y + row * cols;
    float largest = in[0], sum = 0;
    for (int k = 1; k < cols; k++) largest = fmaxf(largest, in[k]);
    for (int k = 0; k < cols; k++) sum += expf(in[k] - largest);
    for (int k = 0; k < cols; k++) out[k] = expf(in[k] - largest) / sum;
}
