// Lane 0 of each warp adds to one word of `words`, the next warp to the next one: many warps meet
// at each word, but seldom at the same time.
// run: --size n=4194304 --size words=1024 --input x=normal:n --output sums=index:words:int32
// run: --size n=33554432 --size words=1024 --input x=normal:n --output sums=index:words:int32
// run: --size n=33554432 --size words=8 --input x=normal:n --output sums=index:words:int32
// launch: word_a_warp<<<ceil_div(n, 256), 256>>>(sums, x, n, words)

__global__ void word_a_warp(int* sums, const float* x, int n, int words)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned positive = __ballot_sync(0xffffffffu, i < n && x[i] > 0.0f);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sums[i / 32 % words], __popc(positive));
}
