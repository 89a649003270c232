// A list in shared memory, which each lane follows from a place of its own: latency and conflicts.
// run: --size threads=32 --input next=permutation:2048 --output y=int32:132*threads
// run: --size threads=1024 --input next=permutation:2048 --output y=int32:132*threads
// launch: shared_chain<<<132, threads>>>(y, next)

__global__ void shared_chain(int* y, const int* next)
{
    __shared__ int list[2048];
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) list[k] = next[k];
    __syncthreads();
    int at = threadIdx.x;
    for (int k = 0; k < 1024; k++) at = list[at];
    y[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
