// One thread follows a list that another kernel has brought into the L2: both halves' latency.
// run: --size n=262144 --size steps=4000 --input list=permutation:n --output y=int32:1
// run: --size n=4194304 --size steps=4000 --input list=permutation:n --output y=int32:1
// scratch: int next[n]
// launch: copied<<<n / 256, 256>>>(next, list)
// launch: chase_in_l2<<<1, 1>>>(y, next, steps)

__global__ void copied(int* next, const int* list)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next[i] = list[i];
}

__global__ void chase_in_l2(int* y, const int* next, int steps)
{
    int at = 0;
    for (int k = 0; k < steps; k++) at = next[at];
    *y = at;
}
