// Votes, shuffles, matches and masks of a warp, also in divergent code.
// nvcc: -arch=sm_90
#include "check.h"

__global__ void votes(unsigned *result)
{
    int lane = threadIdx.x;
    result[0] = __ballot_sync(~0u, lane % 3 == 0);
    result[1] = __any_sync(~0u, lane == 40) + 2 * __all_sync(~0u, lane < 32);
    unsigned same = __match_any_sync(~0u, lane / 5);
    int predicate;
    unsigned all = __match_all_sync(~0u, 7, &predicate);
    if (lane == 7) {
        result[2] = same;
        result[3] = all + predicate;
    }
    if (lane & 1) {
        unsigned mask = __activemask();
        int up = __shfl_up_sync(0xAAAAAAAA, lane, 2);
        if (lane == 9) {
            result[4] = mask;
            result[5] = up;
        }
    }
    __syncwarp();
    result[8 + lane] = __shfl_sync(~0u, lane * lane, (lane + 5) % 8, 8);
    int sum = __reduce_add_sync(~0u, lane);
    int largest = __reduce_max_sync(~0u, lane ^ 21);
    if (lane == 0) {
        result[6] = sum;
        result[7] = largest;
    }
}

int main()
{
    unsigned *x, host[40];
    CHECK(cudaMalloc(&x, sizeof(host)));
    votes<<<1, 32>>>(x);
    CHECK(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; ++i)
        printf("%08x\n", host[i]);
    for (int i = 8; i < 40; ++i)
        printf("%u ", host[i]);
    printf("\n");
    CHECK(cudaFree(x));
    return 0;
}
