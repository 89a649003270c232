// The twin of ticket_is_read_before_all_have_drawn: only who drew last reads and clears the count.
// out: int y[1]
// launch: count<<<4, 32>>>(y)
__device__ unsigned tickets = 0;
extern "C" __global__ void count(int* y) {
    if (threadIdx.x == 0 && atomicAdd(&tickets, 1) == gridDim.x - 1) {
        y[0] = tickets;
        tickets = 0;
    }
}
