// Every thread adds its integer to the same word: the values differ from lane to lane.
// run: --size n=262144 --input x=small_integers:n:int32 --output sum=index:1:int32
// run: --size n=4194304 --input x=small_integers:n:int32 --output sum=index:1:int32
// launch: one_word_integer<<<ceil_div(n, 256), 256>>>(sum, x, n)

__global__ void one_word_integer(int* sum, const int* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i]);
}
