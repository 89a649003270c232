// The twin of last_warp_adds_up, but the count is cleared by who drew first: the others have yet to draw.
// in: float a[128]
// out: float y[1]
// launch: total<<<1, 128>>>(y, a)
extern "C" __global__ void total(float* y, const float* a) {
    __shared__ unsigned tickets;
    if (threadIdx.x == 0) tickets = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0 && atomicAdd(&tickets, 1) == 0) {  // BUG
        y[0] = a[threadIdx.x % 32];
        tickets = 5;  // BUG
    }
}
