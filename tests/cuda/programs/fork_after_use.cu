// A child made by fork() after CUDA was used cannot use it; a child before that can.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

int child_status(int (*work)())
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int code = work();
        fflush(stdout);
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int allocate()
{
    int *x;
    cudaError_t error = cudaMalloc(&x, 100);
    printf("in the child: %s\n", cudaGetErrorName(error));
    return error == cudaSuccess ? 0 : 5;
}

int main()
{
    printf("exit %d\n", child_status(allocate));
    int *x;
    CHECK(cudaMalloc(&x, 100));
    printf("exit %d\n", child_status(allocate));
    CHECK(cudaMemset(x, 0, 100));
    CHECK(cudaFree(x));
    return 0;
}
