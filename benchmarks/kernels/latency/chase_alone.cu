// One thread follows a list: only the latency of the L1 (8 KB), or of DRAM (64 and 256 MB).
// run: --size n=2048 --size steps=20000 --input next=permutation:n --output y=int32:1
// run: --size n=16777216 --size steps=4000 --input next=permutation:n --output y=int32:1
// run: --size n=67108864 --size steps=4000 --input next=permutation:n --output y=int32:1
// launch: chase_alone<<<1, 1>>>(y, next, steps)

__global__ void chase_alone(int* y, const int* next, int steps)
{
    int at = 0;
    for (int k = 0; k < steps; k++) at = next[at];
    *y = at;
}
