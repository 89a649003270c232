// A copy through a ring of four buffers in shared memory: asynchronous copies, 4 bytes per thread,
// by inline PTX, three stages ahead.
// run: --size n=4325376 --input x=normal:n --output y=float32:n
// run: --size n=34603008 --input x=normal:n --output y=float32:n
// launch: four_stages<<<264, 256>>>(y, x, n / 264)

#define THREADS 256
#define STAGES 4

__device__ void copy_word(float* shared, const float* global)
{
    const unsigned address = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(global) : "memory");
}

__global__ void four_stages(float* y, const float* x, int length)
{
    __shared__ float ring[STAGES][THREADS];
    const int t = threadIdx.x, rounds = length / THREADS;
    const int first = blockIdx.x * length + t;
    for (int stage = 0; stage < STAGES - 1; stage++) {
        copy_word(&ring[stage][t], &x[first + stage * THREADS]);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int round = 0; round < rounds; round++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        y[first + round * THREADS] = ring[round % STAGES][t ^ 1];
        const int ahead = round + STAGES - 1;
        if (ahead < rounds)
            copy_word(&ring[ahead % STAGES][t], &x[first + ahead * THREADS]);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
}
