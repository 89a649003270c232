// Merges pairs of sorted runs of 4,096 numbers: each number finds its place in the other run by
// binary search in global memory.
// run: --size n=1048576 --input x=index:n --output y=float32:n
// run: --size n=16777216 --input x=index:n --output y=float32:n
// launch: merge_search<<<n / 256, 256>>>(y, x)

#define LENGTH 4096

__global__ void merge_search(float* y, const float* x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int run = i / LENGTH, other = (run ^ 1) * LENGTH, own = i % LENGTH;
    const bool second = run % 2 == 1;
    // The runs overlap: the second one's numbers count as half a run less than they are.
    const float shift = second ? -LENGTH / 2.0f : LENGTH / 2.0f;
    const float key = x[i] + shift;
    int low = 0, high = LENGTH;
    while (low < high) {
        const int middle = (low + high) / 2;
        const float there = x[other + middle];
        if (there < key || (second && there == key))
            low = middle + 1;
        else
            high = middle;
    }
    y[(run & ~1) * LENGTH + own + low] = x[i];
}
