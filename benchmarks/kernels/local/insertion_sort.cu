// Each thread sorts 16 words of its own by insertion: a local array, and loops of uneven length.
// run: --size n=131072 --input x=normal:16*n --output y=float32:16*n
// run: --size n=1048576 --input x=normal:16*n --output y=float32:16*n
// launch: insertion_sort<<<n / 128, 128>>>(y, x, n)

__global__ void insertion_sort(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sorted[16];
    for (int k = 0; k < 16; k++) {
        float v = x[k * n + i];
        int at = k;
        for (; at > 0 && sorted[at - 1] > v; at--) sorted[at] = sorted[at - 1];
        sorted[at] = v;
    }
    for (int k = 0; k < 16; k++) y[k * n + i] = sorted[k];
}
