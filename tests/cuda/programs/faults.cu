// Errors of kernels are sticky: an illegal address, a misaligned one, a trap, shared memory beyond
// its end. Each runs in a child process that begins CUDA itself.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void far(int *x)
{
    x[1ll << 38] = 1;
}

__global__ void misaligned(char *x)
{
    *(int *)(x + 1 + threadIdx.x * 4) = 1;
}

__global__ void trap(int *)
{
    if (threadIdx.x == 3)
        __trap();
}

__global__ void shared(int *x)
{
    extern __shared__ int tile[];
    x[0] = tile[x[1] + 100000];
}

__global__ void null(int *x)
{
    *(int *)(size_t)x[0] = 1;
}

void show(const char *name, cudaError_t error)
{
    printf("  %s: %s\n", name, cudaGetErrorName(error));
}

template <typename T> void run(const char *name, void (*kernel)(T *))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("%s\n", name);
        T *x;
        show("malloc", cudaMalloc(&x, 1024));
        show("memset", cudaMemset(x, 0, 1024));
        kernel<<<1, 32>>>(x);
        show("launch", cudaGetLastError());
        show("synchronise", cudaDeviceSynchronize());
        show("last", cudaGetLastError());
        show("last", cudaGetLastError());
        show("malloc", cudaMalloc(&x, 4));
        show("free", cudaFree(x));
        cudaStream_t stream;
        show("stream", cudaStreamCreate(&stream));
        kernel<<<1, 32>>>(x);
        show("launch", cudaGetLastError());
        exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("  exit %d\n", WEXITSTATUS(status));
}

int main()
{
    run("far", far);
    run("misaligned", misaligned);
    run("trap", trap);
    run("shared", shared);
    run("null", null);
    return 0;
}
