// Dot products of four bytes at once (dp4a), and shifts of pairs of words.
// run: --size n=1048576 --size rounds=64 --input x=index:n:uint32 --output y=int32:n
// run: --size n=8388608 --size rounds=128 --input x=index:n:uint32 --output y=int32:n
// launch: byte_sums<<<n / 256, 256>>>(y, x, rounds)

__global__ void byte_sums(int* y, const unsigned* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned bytes = x[i] * 2654435761u;
    int sum = 0;
    for (int k = 0; k < rounds; k++) {
        sum = __dp4a((int)bytes, 0x01020304, sum);
        bytes = __funnelshift_l(bytes, sum, 3);
    }
    y[i] = sum;
}
