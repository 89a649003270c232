// Sum of two vectors: out[i] = a[i] + b[i] for each i from 0 to n - 1.
//
//   a, b  n floats each
//   out   n floats
//
// The file has two kernels. The first is the baseline: do not change it. `vector_add` is yours. It starts as a copy of
// the baseline, which is correct but uses a single block: 256 threads of a GPU that can hold 270,336.
// README.md of the exercise explains how to improve it.

// The grader launches the kernel by this line. The first number between <<< and >>> is the number of blocks, the second
// is the number of threads of each block. The line may use the names out, a, b and n, your own #defines, ceil_div, min,
// max and + - * / %. Change it together with the kernel.
//
// launch: vector_add<<<1, 256>>>(out, a, b, n)

// The baseline: a single block adds the vectors, 256 elements at a time.
__global__ void vector_add_naive(float* out, const float* a, const float* b, int n)
{
    for (int i = threadIdx.x; i < n; i += 256) out[i] = a[i] + b[i];
}

// Yours. Three questions:
//   - how many blocks does the GPU need, so that all of its multiprocessors work?
//   - which number has this thread among the threads of all blocks?
//   - what should a thread do if its number is n or more?
__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    for (int i = threadIdx.x; i < n; i += 256) out[i] = a[i] + b[i];
}
