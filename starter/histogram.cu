// Histogram: counts[v] is the number of elements of in that are v, for v from 0 to 255.
//
//   in      n integers from 0 to 255; about a quarter of them are 255
//   counts  256 integers
//
// The file has two kernels. The first is the baseline: do not change it. `histogram` is yours. It starts as a copy of the
// baseline. It is correct, but all threads of the GPU add to the same 256 integers in global memory.
// README.md of the exercise explains how to improve it.

#define BINS 256
#define THREADS 256  // threads of a block

// The grader executes these lines in order. The first sets the counts to 0: before it, they contain garbage. The lines
// may use the names counts, in and n, your own #defines, ceil_div, min, max and + - * / %. Change them together with the
// kernel. `// scratch: int partial[...]` declares a buffer of your own, if you need one.
//
// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<ceil_div(n, THREADS), THREADS>>>(counts, in, n)

// The baseline: an atomic addition in global memory per element.
__global__ void histogram_naive(int* counts, const int* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(&counts[in[i]], 1);
}

// Yours. Four questions:
//   - how many threads of the GPU add to the same counter?
//   - where could a block keep counters of its own?
//   - how many elements should a block count before it adds its counters to the global ones?
//   - how many bytes does a thread wait for at a time?
__global__ void histogram(int* counts, const int* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(&counts[in[i]], 1);
}
