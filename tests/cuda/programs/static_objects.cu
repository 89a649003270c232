// Global objects allocate before main and free after it; constructors launch kernels.
#include "check.h"

__global__ void fill(int *x, int value)
{
    x[threadIdx.x] = value + threadIdx.x;
}

struct Buffer {
    int *data;

    Buffer(int value)
    {
        CHECK(cudaMalloc(&data, 32 * sizeof(int)));
        fill<<<1, 32>>>(data, value);
    }

    ~Buffer()
    {
        cudaError_t error = cudaFree(data);
        printf("free: %d\n", error == cudaSuccess || error == cudaErrorCudartUnloading);
    }

    int operator[](int i) const
    {
        int value;
        CHECK(cudaMemcpy(&value, data + i, sizeof(int), cudaMemcpyDeviceToHost));
        return value;
    }
};

Buffer first(100);
static Buffer second(200);

int main()
{
    Buffer local(300);
    printf("%d %d %d\n", first[1], second[2], local[31]);
    return 0;
}
