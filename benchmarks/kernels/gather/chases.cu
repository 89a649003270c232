// Pointer chases by as many threads as fit: eight dependent random reads each.
// run: --size n=262144 --size threads=262144 --input next=permutation:n --output y=int32:threads
// run: --size n=4194304 --size threads=262144 --input next=permutation:n --output y=int32:threads
// run: --size n=33554432 --size threads=1048576 --input next=permutation:n --output y=int32:threads
// launch: chases<<<threads / 256, 256>>>(y, next)

__global__ void chases(int* y, const int* next)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    for (int k = 0; k < 8; k++) at = next[at];
    y[i] = at;
}
