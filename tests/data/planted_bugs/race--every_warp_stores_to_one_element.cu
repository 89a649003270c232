// Which warp's number stays is left to chance.
// out: int y[128]
// launch: last<<<1, 128>>>(y)
extern "C" __global__ void last(int* y) {
    __shared__ int winner;
    winner = threadIdx.x / 32;  // BUG
    __syncthreads();
    y[threadIdx.x] = winner;
}
