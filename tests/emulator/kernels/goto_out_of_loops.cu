// Jumps out of nested loops: lanes leave convergence barriers early.
// in: a int32[96] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}
// out: y int32[64]
// launch: run<<<1, 64>>>(y, a)
__global__ void run(int* y, const int* a)
{
    const int t = threadIdx.x;
    int s = 0;
    for (int i = 0; i < a[t]; i++) {
        if (a[t + i] > 3) {
            for (int j = 0; j < a[i]; j++) {
                if (a[j] == (t & 7)) goto out;
                s += j;
                if (a[j + 1] == 6) break;
                s ^= a[j + 2];
                __syncwarp(__activemask());
            }
        }
        s += i;
    }
out:
    y[t] = s;
}
