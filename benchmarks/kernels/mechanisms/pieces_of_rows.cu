// Pieces of so many words, which are stored at places that an array lists: rows of DRAM are opened
// for parts of them.
// run: --size n=1048576 --size words=8 --input list=permutation:n --output y=float32:n*64
// run: --size n=1048576 --size words=16 --input list=permutation:n --output y=float32:n*64
// run: --size n=1048576 --size words=32 --input list=permutation:n --output y=float32:n*64
// run: --size n=1048576 --size words=64 --input list=permutation:n --output y=float32:n*64
// launch: pieces_of_rows<<<n / 64, 256>>>(y, list, words)

__global__ void pieces_of_rows(float* y, const int* list, int words)
{
    int piece = blockIdx.x * 64 + threadIdx.x / words, pieces = 256 / words;
    for (int k = 0; k < 64; k += pieces)
        y[(size_t)list[piece + k] * 64 + threadIdx.x % words] = k;
}
