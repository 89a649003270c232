// The twin of neighbours_of_a_warp: the warp waits in between.
// in: float a[32]
// out: float y[32]
// launch: turn<<<1, 32>>>(y, a)
extern "C" __global__ void turn(float* y, const float* a) {
    __shared__ float kept[32];
    kept[threadIdx.x] = a[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = kept[31 - threadIdx.x];
}
