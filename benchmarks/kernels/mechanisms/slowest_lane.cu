// So many lanes of one warp each read a word of their own from DRAM, again and again: the slowest
// one decides.
// run: --size n=67108864 --size lanes=1 --input next=permutation:n --output y=int32:32
// run: --size n=67108864 --size lanes=4 --input next=permutation:n --output y=int32:32
// run: --size n=67108864 --size lanes=32 --input next=permutation:n --output y=int32:32
// launch: slowest_lane<<<1, 32>>>(y, next, n, lanes)

__global__ void slowest_lane(int* y, const int* next, int n, int lanes)
{
    int lane = threadIdx.x, at = lane * (n / 32);
    if (lane >= lanes) return;
    for (int k = 0; k < 1000; k++) at = next[at];
    y[lane] = at;
}
