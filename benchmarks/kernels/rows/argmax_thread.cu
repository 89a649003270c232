// The place of each row's largest element, a thread per row: compares and selects, no arithmetic.
// run: --size rows=65536 --size cols=128 --input x=normal:rows,cols --output y=int32:rows
// run: --size rows=131072 --size cols=512 --input x=normal:rows,cols --output y=int32:rows
// launch: argmax_thread<<<rows / 256, 256>>>(y, x, cols)

__global__ void argmax_thread(int* y, const float* x, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, place = 0;
    float largest = x[row * cols];
    for (int k = 1; k < cols; k++) {
        float v = x[row * cols + k];
        if (v > largest) {
            largest = v;
            place = k;
        }
    }
    y[row] = place;
}
