// Every kind of atomic on integers and floating-point numbers, in global and shared memory.
#include "check.h"

__device__ double atomic_multiply(double *x, double factor)
{
    unsigned long long *word = (unsigned long long *)x, old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(__longlong_as_double(assumed) * factor));
    } while (old != assumed);
    return __longlong_as_double(old);
}

__global__ void update(int *x, unsigned *u, unsigned long long *l, float *f, double *d)
{
    __shared__ int cell;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        cell = 0;
    __syncthreads();
    atomicAdd(&x[0], i);
    atomicSub(&x[1], 2);
    atomicMin(&x[2], 50 - i);
    atomicMax(&x[3], i * 7 % 100);
    atomicAnd(&x[4], ~(1 << i % 31));
    atomicOr(&x[5], 1 << i % 20);
    atomicXor(&x[6], i);
    atomicInc(&u[0], 9);
    atomicDec(&u[1], 6);
    atomicExch(&u[2], 77);
    atomicAdd(&l[0], 1ull << 33);
    atomicMax(&l[1], (unsigned long long)i << 40);
    atomicAdd(f, 0.5f);
    atomicAdd(&d[0], 0.25);
    if (i < 10)
        atomic_multiply(&d[1], 2);
    atomicAdd_block(&cell, 1);
    atomicCAS(&x[7], 0, 5);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd_system(&x[8], cell);
}

struct Numbers {
    int x[9];
    unsigned u[3];
    unsigned long long l[2];
    float f;
    double d[2];
};

int main()
{
    Numbers host = {{0, 0, 1000, -1, -1}, {}, {}, 0, {0, 1}}, *n;
    CHECK(cudaMalloc(&n, sizeof(host)));
    CHECK(cudaMemcpy(n, &host, sizeof(host), cudaMemcpyHostToDevice));
    update<<<4, 96>>>(n->x, n->u, n->l, &n->f, n->d);
    CHECK(cudaMemcpy(&host, n, sizeof(host), cudaMemcpyDeviceToHost));
    for (int value : host.x)
        printf("%d ", value);
    printf("\n%u %u %u\n%llu %llu\n%g %g %g\n", host.u[0], host.u[1], host.u[2], host.l[0],
           host.l[1], host.f, host.d[0], host.d[1]);
    CHECK(cudaFree(n));
    return 0;
}
